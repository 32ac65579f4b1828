/** The IPAM plugin that the network configuration may name: another CNI executable. */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { CniError } from './cni-error.ts';
import type { Command } from './environment.ts';
import type { NetworkConfig } from './network-config.ts';

/** Placeholder in `ipam.subnet` for the pod subnet of this node. */
const POD_CIDR = 'usePodCidr';

export interface IpamPlugin {
  readonly type: string;
  /** @returns the standard output of the plugin @throws CniError with the plugin's own code, if any */
  run(command: Command): Promise<string>;
}

/**
 * @param podCidr only called when the configuration uses the placeholder
 * @throws CniError when no folder of CNI_PATH has the plugin
 */
export async function ipamPlugin(
  network: NetworkConfig,
  environment: NodeJS.ProcessEnv,
  podCidr: () => Promise<string>,
): Promise<IpamPlugin | undefined> {
  const { ipam, document } = network;
  if (!ipam) return undefined;
  const file = findPlugin(ipam.type, environment['CNI_PATH'] ?? '');
  const subnet = (ipam as { subnet?: unknown }).subnet;
  const input = JSON.stringify(
    subnet === POD_CIDR ? { ...document, ipam: { ...ipam, subnet: await podCidr() } } : document,
  );
  return {
    type: ipam.type,
    run: (command) => runPlugin(file, { ...environment, CNI_COMMAND: command }, input),
  };
}

interface OldAddress {
  readonly ip: string;
  readonly gateway?: string;
}

interface IpamResult {
  readonly ips?: readonly object[];
  /** Before 0.3.0. */
  readonly ip4?: OldAddress;
  readonly ip6?: OldAddress;
}

function oldAddress(old: OldAddress | undefined, version: '4' | '6'): object | undefined {
  return old && { version, address: old.ip, ...(old.gateway && { gateway: old.gateway }) };
}

/** The first address of a result, in the form that the agent accepts. @throws CniError */
export function firstAddress(result: string): string {
  let given: IpamResult | null;
  try {
    given = JSON.parse(result);
  } catch {
    throw new CniError('delegate', 'the IPAM plugin returned an invalid result', result);
  }
  const first = given?.ips?.[0] ?? oldAddress(given?.ip4, '4') ?? oldAddress(given?.ip6, '6');
  if (!first) throw new CniError('delegate', 'the IPAM plugin returned no address', result);
  return JSON.stringify(first);
}

function findPlugin(type: string, folders: string): string {
  for (const folder of folders.split(':').filter(Boolean)) {
    const file = join(folder, type);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // The next folder may have it.
    }
  }
  throw new CniError('config', `IPAM plugin ${type} was not found in CNI_PATH`, folders);
}

async function runPlugin(file: string, env: NodeJS.ProcessEnv, input: string): Promise<string> {
  const { spawn } = await import('node:child_process');
  const child = spawn(file, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (piece) => {
    output += piece;
  });
  child.on('error', (error) => reject(new CniError('delegate', `${file}: ${error.message}`)));
  child.on('close', (status) =>
    status === 0 ? resolve(output) : reject(pluginError(file, output)),
  );
  // A plugin that exits without reading its input reports the error itself.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return promise;
}

function pluginError(file: string, output: string): CniError {
  try {
    const { code, msg, details } = JSON.parse(output);
    // Code 0 is not an error code.
    const known = Number.isSafeInteger(code) && code > 0 ? code : undefined;
    return new CniError('delegate', `${file}: ${msg}`, String(details ?? ''), known);
  } catch {
    return new CniError('delegate', `${file} failed`, output);
  }
}
