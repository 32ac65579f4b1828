/** The error result of the CNI specification. */

/** Error codes: those of the specification up to 99, those of this plugin from 100. */
export const errorKinds = {
  version: { code: 1, name: 'incompatible CNI version' },
  environment: { code: 4, name: 'invalid environment variable' },
  io: { code: 5, name: 'I/O failure' },
  decode: { code: 6, name: 'failed to decode content' },
  config: { code: 7, name: 'invalid network configuration' },
  later: { code: 11, name: 'try again later' },
  unavailable: { code: 50, name: 'the plugin is not available' },
  limited: { code: 51, name: 'the plugin is not available, and connectivity may be limited' },
  refused: { code: 100, name: 'the request failed in the agent' },
  delegate: { code: 101, name: 'the IPAM plugin failed' },
} as const satisfies Record<string, { readonly code: number; readonly name: string }>;

export class CniError extends Error {
  readonly code: number;
  /** More about the error than the message says; empty for none. */
  readonly details: string;

  /** @param code only set to forward the code of another plugin */
  constructor(
    kind: keyof typeof errorKinds,
    message: string,
    details = '',
    code: number = errorKinds[kind].code,
  ) {
    super(message);
    this.code = code;
    this.details = details;
  }

  /** The error result, for the version that the caller supports. */
  result(cniVersion: string): object {
    const { code, message, details } = this;
    return { cniVersion, code, msg: message, ...(details !== '' && { details }) };
  }
}
