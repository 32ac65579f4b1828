export interface CallRequest {
  /** `sendto`: a socket without a connection; `send`: one that is connected. */
  readonly call: 'connect' | 'sendto' | 'send';
  readonly address: string;
  readonly port: number;
  readonly count: number;
}

/** The port of a socket that takes datagrams and reads none. */
export const RECEIVER_PORT = 8080;
