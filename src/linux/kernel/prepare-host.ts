/**
 * Checks and prepares the machine before anything is configured: capabilities, devices of the kernel,
 * and sysctls. Sysctls are set and modules loaded where possible; one error lists everything that
 * is still missing. Repeating it changes nothing.
 */
import { defineError } from '#infra/errors/errors.ts';
import type { Machine } from './machine.ts';

export const HostNotReadyError = defineError({
  name: 'HostNotReadyError',
  code: 'CV_HOST_NOT_READY',
  remedy:
    'Provide what the text lists: the agent’s pod must be privileged, use the host network, and mount /dev.',
});

export interface HostRequirements {
  /** Links to pods and host are TAPs; otherwise VETH pairs. */
  readonly tap: boolean;
  /** Of the pods. */
  readonly families: readonly (4 | 6)[];
}

export interface HostFacts {
  /** Whether the kernel supports IPv6. */
  readonly ipv6: boolean;
}

const capabilities = [
  { name: 'CAP_NET_ADMIN', bit: 12n },
  { name: 'CAP_SYS_ADMIN', bit: 21n },
] as const;

/** VPP needs these for TAPs, in the kernel that it shares with the agent. */
const tapDevices = [
  { path: '/dev/net/tun', misc: 'tun', module: 'tun' },
  { path: '/dev/vhost-net', misc: 'vhost-net', module: 'vhost_net' },
] as const;

const IPV6_FOLDER = '/proc/sys/net/ipv6/conf';

/** @throws HostNotReadyError that lists everything that is missing */
export async function prepareHost(machine: Machine, needs: HostRequirements): Promise<HostFacts> {
  const missing: string[] = [];
  const ipv6 = (await machine.list(IPV6_FOLDER)).length > 0;
  missing.push(...(await missingRights(machine)));
  if (needs.tap) missing.push(...(await missingDevices(machine)));
  if (needs.families.includes(6) && !ipv6)
    missing.push('IPv6 in the kernel, which the pods are configured for');
  else
    for (const family of needs.families) missing.push(...(await missingSysctls(machine, family)));
  if (missing.length > 0) throw new HostNotReadyError(`this node lacks ${missing.join('; ')}`);
  return { ipv6 };
}

async function missingRights(machine: Machine): Promise<string[]> {
  const status = (await machine.read('/proc/self/status')) ?? '';
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  return capabilities
    .filter(({ bit }) => ((effective >> bit) & 1n) === 0n)
    .map(({ name }) => `the capability ${name}`);
}

async function missingDevices(machine: Machine): Promise<string[]> {
  const missing: string[] = [];
  for (const { path, misc, module } of tapDevices) {
    // VPP may run in another container: the kernel counts, not the /dev of this one
    const isThere = async (): Promise<boolean> =>
      (await machine.isDevice(path)) || hasMisc(await machine.read('/proc/misc'), misc);
    if (await isThere()) continue;
    await machine.loadModule(module);
    if (!(await isThere()))
      missing.push(`${path} (module ${module}; without it set useTAPInterfaces: false)`);
  }
  return missing;
}

/** Whether the kernel has a device of this name; each line of the file is number and name. */
function hasMisc(file: string | undefined, name: string): boolean {
  return (file ?? '').split('\n').some((line) => line.trim().split(/\s+/)[1] === name);
}

async function missingSysctls(machine: Machine, family: 4 | 6): Promise<string[]> {
  if (family === 4) return set(machine, '/proc/sys/net/ipv4/ip_forward', '1');
  const missing = await set(machine, `${IPV6_FOLDER}/all/disable_ipv6`, '0');
  // a host that forwards ignores router advertisements unless accept_ra is 2, and would lose a default
  // route that it has from a router
  for (const link of await machine.list(IPV6_FOLDER)) {
    const path = `${IPV6_FOLDER}/${link}/accept_ra`;
    if ((await machine.read(path))?.trim() === '1')
      missing.push(...(await set(machine, path, '2')));
  }
  return [...missing, ...(await set(machine, `${IPV6_FOLDER}/all/forwarding`, '1'))];
}

/** Writes only if the value differs: the file may be read-only with the right value. */
async function set(machine: Machine, path: string, value: string): Promise<string[]> {
  const before = (await machine.read(path))?.trim();
  if (before === value) return [];
  try {
    await machine.write(path, value);
    return [];
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    return [`${path} = ${value} (it is ${before ?? 'missing'} and cannot be set: ${reason})`];
  }
}
