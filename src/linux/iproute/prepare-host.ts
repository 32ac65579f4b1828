/**
 * What the pods need of the machine before anything is configured: rights, programs, devices of the
 * kernel, and sysctls. What can be set is set; all that is missing then is told in one error, so
 * that nobody has to start the agent once for each. Doing it again changes nothing.
 */
import { defineError } from '#infra/errors/errors.ts';
import type { Machine } from './machine.ts';

export const HostNotReadyError = defineError({
  name: 'HostNotReadyError',
  code: 'CV_HOST_NOT_READY',
  remedy:
    'Give the agent what the text names: as a pod it runs privileged in the network of the host, with /dev mounted.',
});

export interface HostRequirements {
  /** Links to pods and host are TAPs; else VETH pairs. */
  readonly tap: boolean;
  /** Of the pods. */
  readonly family: 4 | 6;
}

export interface HostFacts {
  /** Whether the kernel has IPv6 at all. */
  readonly ipv6: boolean;
}

const capabilities = [
  { name: 'CAP_NET_ADMIN', bit: 12n },
  { name: 'CAP_SYS_ADMIN', bit: 21n },
] as const;

const programs = ['ip', 'nsenter', 'ethtool', 'sh'] as const;

/** VPP makes TAPs out of these, in the kernel that both share. */
const tapDevices = [
  { path: '/dev/net/tun', misc: 'tun', module: 'tun' },
  { path: '/dev/vhost-net', misc: 'vhost-net', module: 'vhost_net' },
] as const;

const IPV6_FOLDER = '/proc/sys/net/ipv6/conf';

/** @throws HostNotReadyError naming all that is missing */
export async function prepareHost(machine: Machine, needs: HostRequirements): Promise<HostFacts> {
  const missing: string[] = [];
  const ipv6 = (await machine.list(IPV6_FOLDER)).length > 0;
  missing.push(...(await missingRights(machine)));
  for (const program of programs)
    if (!(await machine.hasProgram(program))) missing.push(`the program ${program}`);
  if (needs.tap) missing.push(...(await missingDevices(machine)));
  if (needs.family === 6 && !ipv6) missing.push('IPv6 in the kernel, which the pods shall have');
  else missing.push(...(await missingSysctls(machine, needs)));
  if (missing.length > 0) throw new HostNotReadyError(`this node lacks ${missing.join('; ')}`);
  return { ipv6 };
}

async function missingRights(machine: Machine): Promise<string[]> {
  const status = (await machine.read('/proc/self/status')) ?? '';
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  return capabilities
    .filter(({ bit }) => ((effective >> bit) & 1n) === 0n)
    .map(({ name }) => `the right ${name}`);
}

async function missingDevices(machine: Machine): Promise<string[]> {
  const missing: string[] = [];
  for (const { path, misc, module } of tapDevices) {
    // VPP may run in a container of its own: what counts is the kernel, not the /dev that is seen here
    const isThere = async (): Promise<boolean> =>
      (await machine.isDevice(path)) || hasMisc(await machine.read('/proc/misc'), misc);
    if (await isThere()) continue;
    await machine.loadModule(module);
    if (!(await isThere()))
      missing.push(`${path} (module ${module}; without it set useTAPInterfaces: false)`);
  }
  return missing;
}

/** Whether the kernel has a device of this name, each line of the file being number and name. */
function hasMisc(file: string | undefined, name: string): boolean {
  return (file ?? '').split('\n').some((line) => line.trim().split(/\s+/)[1] === name);
}

async function missingSysctls(machine: Machine, { family }: HostRequirements): Promise<string[]> {
  if (family === 4) return set(machine, '/proc/sys/net/ipv4/ip_forward', '1');
  const missing = await set(machine, `${IPV6_FOLDER}/all/disable_ipv6`, '0');
  // a host that forwards no longer listens to routers, unless its links are told to: where it has
  // its default route from one, that would be gone
  for (const link of await machine.list(IPV6_FOLDER)) {
    const path = `${IPV6_FOLDER}/${link}/accept_ra`;
    if ((await machine.read(path))?.trim() === '1')
      missing.push(...(await set(machine, path, '2')));
  }
  return [...missing, ...(await set(machine, `${IPV6_FOLDER}/all/forwarding`, '1'))];
}

/** Nothing is written that is so already: the file may be read-only with the right value. */
async function set(machine: Machine, path: string, value: string): Promise<string[]> {
  const before = (await machine.read(path))?.trim();
  if (before === value) return [];
  try {
    await machine.write(path, value);
    return [];
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    return [`${path} = ${value} (it is ${before ?? 'not there'} and cannot be set: ${reason})`];
  }
}
