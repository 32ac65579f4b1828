/**
 * The IPAM plugin that the network configuration may name: another CNI executable. It runs beside
 * contiv-cni, on the host.
 */
import { podRange } from '#plugins/ipam/api.ts';
import { CniError } from './cni-error.ts';
import type { Command, Variables } from './environment.ts';
import type { NetworkConfig } from './network-config.ts';

/** Placeholder in `ipam.subnet` for the pod subnet of this node. */
const POD_CIDR = 'usePodCidr';

/** How a plugin has ended. */
export interface PluginEnd {
  /** Its file; empty when no folder of CNI_PATH has it. */
  readonly path: string;
  /** undefined: it could not be started, or contiv-cni has killed it; the output is the reason. */
  readonly status: number | undefined;
  readonly output: string;
}

/** Runs a plugin on the host. Rejects when the caller has disconnected. */
export type RunPlugin = (name: string, command: Command, input: string) => Promise<PluginEnd>;

export interface IpamPlugin {
  readonly type: string;
  /** @returns the standard output of the plugin @throws CniError with the plugin's own code, if any */
  run(command: Command): Promise<string>;
}

interface IpamDeps {
  readonly network: NetworkConfig;
  readonly environment: Variables;
  readonly runPlugin: RunPlugin;
}

/** @param podCidr only called when the configuration uses the placeholder */
export async function ipamPlugin(
  { network, environment, runPlugin }: IpamDeps,
  podCidr: () => Promise<string>,
): Promise<IpamPlugin | undefined> {
  const { ipam, document, text } = network;
  if (!ipam) return undefined;
  const isPlaceholder = (ipam as { subnet?: unknown }).subnet === POD_CIDR;
  const input = isPlaceholder
    ? JSON.stringify({ ...document, ipam: withSubnet(ipam, await podCidr()) })
    : text;
  return {
    type: ipam.type,
    run: async (command) => {
      const end = await runPlugin(ipam.type, command, input);
      if (end.path === '')
        throw new CniError(
          'config',
          `IPAM plugin ${ipam.type} was not found in CNI_PATH`,
          environment['CNI_PATH'],
        );
      if (end.status === 0) return end.output;
      throw pluginError(end);
    },
  };
}

/**
 * The pod subnet, and the range of it that pods can have, in the keys of the reference plugin host-local. It
 * would allocate the NAT loopback, too. A configured limit is kept.
 */
function withSubnet(ipam: object, subnet: string): object {
  const { first, last } = podRange(subnet);
  return { rangeStart: first, rangeEnd: last, ...ipam, subnet };
}

interface OldAddress {
  readonly ip: string;
  readonly gateway?: string;
}

interface IpamResult {
  readonly ips?: unknown;
  /** Before 0.3.0. */
  readonly ip4?: OldAddress;
  readonly ip6?: OldAddress;
}

function oldAddress(old: OldAddress | undefined, version: '4' | '6'): object | undefined {
  return old && { version, address: old.ip, ...(old.gateway && { gateway: old.gateway }) };
}

/**
 * The addresses of a result of any version, in the form that the CNI service accepts. All of them: with ranges of
 * both families the first one may be of the other family than the pods.
 * @throws CniError
 */
export function allocatedAddresses(result: string): string {
  let given: IpamResult | null;
  try {
    given = JSON.parse(result);
  } catch {
    throw new CniError('delegate', 'the IPAM plugin returned an invalid result', shown(result));
  }
  const old = [oldAddress(given?.ip4, '4'), oldAddress(given?.ip6, '6')];
  const ips = Array.isArray(given?.ips) ? given.ips : old.filter((one) => one !== undefined);
  if (ips.length === 0)
    throw new CniError('delegate', 'the IPAM plugin returned no address', shown(result));
  return JSON.stringify({ ips });
}

function pluginError({ path, output }: PluginEnd): CniError {
  try {
    const { code, msg, details } = JSON.parse(output);
    // Code 0 is not an error code.
    const known = Number.isSafeInteger(code) && code > 0 ? code : undefined;
    return new CniError('delegate', `${path}: ${msg}`, String(details ?? ''), known);
  } catch {
    return new CniError('delegate', `${path} failed`, shown(output));
  }
}

/** Characters of an invalid output that the error shows. */
const SHOWN_CHARACTERS = 2000;

function shown(output: string): string {
  return output.slice(0, SHOWN_CHARACTERS);
}
