/** Calls of the container runtime, as data. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { run, temporaryFolder } from './executable.ts';

/** The plugins of CNI_PATH, log files and sockets. */
export const folder = temporaryFolder();

export interface Call {
  readonly command: string;
  readonly container?: string;
  readonly ifname?: string;
  readonly netns?: string;
  readonly args?: string;
  readonly env?: Record<string, string>;
  readonly config?: object | string;
}

export interface CniResult {
  readonly cniVersion: string;
  readonly code?: number;
  readonly msg?: string;
  readonly details?: string;
  readonly interfaces?: readonly { readonly mac?: string }[];
  readonly ips?: readonly Record<string, unknown>[];
  readonly [field: string]: unknown;
}

export function podArgs(name: string): string {
  return `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=${name}`;
}

/** @param base configuration that the one of the call overrides @returns the standard output, if any */
export type Runtime = (base: object, call: Call) => Promise<CniResult | undefined>;

export function runtimeOf(executable: string): Runtime {
  return (base, call) => runCall(executable, base, call);
}

async function runCall(
  executable: string,
  base: object,
  call: Call,
): Promise<CniResult | undefined> {
  const { command, container, ifname, netns, args, env = {}, config = {} } = call;
  const text =
    typeof config === 'string'
      ? config
      : JSON.stringify({ logFile: join(folder, 'cni.log'), ...base, ...config });
  const environment = {
    CNI_COMMAND: command,
    CNI_PATH: folder,
    ...(container !== undefined && { CNI_CONTAINERID: container }),
    ...(ifname !== undefined && { CNI_IFNAME: ifname }),
    ...(netns !== undefined && { CNI_NETNS: netns }),
    ...(args !== undefined && { CNI_ARGS: args }),
    ...env,
  };
  const { output, errors, code: status } = await run(executable, environment, text);
  assert.equal(errors, '');
  assert.equal(status, output.includes('"code"') ? 1 : 0, output);
  return output === '' ? undefined : JSON.parse(output);
}
