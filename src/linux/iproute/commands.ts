/** Each operation as lines of `ip -batch` or of `sh`. Invalid names are rejected before they are sent. */
import type {
  LinkLocation,
  LinkSettings,
  LinuxNeighbor,
  LinuxRoute,
  NamespacePath,
} from '../api.ts';
import { AGENT_ROUTE_PROTOCOL } from '../api.ts';
import {
  cidr,
  ipAddress,
  isV6,
  linkName,
  macAddress,
  quotedAlias,
  sysctlPath,
  sysctlValue,
  wholeNumber,
} from './command-arguments.ts';

export interface Command {
  /** `ip`: lines of its batch. `sh`: commands of a script. `dump`: reads the namespace. */
  readonly tool: 'ip' | 'sh' | 'dump';
  /** Namespace of the process. */
  readonly namespace: NamespacePath;
  /** The second namespace that the command uses. */
  readonly other?: { readonly namespace: NamespacePath };
  /**
   * All lines are executed, also after a failed one.
   * @param other path of the second namespace, valid while the process runs
   */
  readonly lines: (other: string) => readonly string[];
  /** Object of the command, for errors. */
  readonly where: string;
  /** The link that it moves to the other namespace. */
  readonly moves?: string;
  /** Removes links: names that `ip` has looked up before may now refer to other links. */
  readonly removes?: boolean;
  /** Adds links: must not share a process with an earlier removal. */
  readonly brings?: boolean;
}

function at(what: string, namespace: NamespacePath): string {
  return namespace === undefined ? what : `${what} in ${namespace}`;
}

export function createVeth(a: LinkLocation, b: LinkLocation): Command {
  const nameA = linkName(a.name);
  const nameB = linkName(b.name);
  const apart = a.namespace !== b.namespace;
  return {
    tool: 'ip',
    namespace: a.namespace,
    ...(apart && { other: { namespace: b.namespace } }),
    lines: (other) => [
      `link add name ${nameA} type veth peer name ${nameB}${apart ? ` netns ${other}` : ''}`,
    ],
    where: at(`veth ${nameA} and ${nameB}`, a.namespace),
    brings: true,
  };
}

export function deleteLink(namespace: NamespacePath, name: string): Command {
  const link = linkName(name);
  return {
    tool: 'ip',
    namespace,
    lines: () => [`link del dev ${link}`],
    where: at(`link ${link}`, namespace),
    removes: true,
  };
}

export function moveLink(from: LinkLocation, to: LinkLocation): Command {
  const name = linkName(from.name);
  const target = linkName(to.name);
  const apart = from.namespace !== to.namespace;
  return {
    tool: 'ip',
    namespace: from.namespace,
    ...(apart && { other: { namespace: to.namespace } }),
    lines: (other) =>
      apart
        ? [`link set dev ${name} netns ${other} name ${target}`]
        : [
            `link set dev ${name} down`,
            `addr flush dev ${name}`,
            `link set dev ${name} name ${target}`,
          ],
    where: at(`link ${name}`, from.namespace),
    ...(apart && { moves: name }),
    removes: true,
    brings: true,
  };
}

/** Checks that a link exists; fails with ENODEV otherwise. */
export function probeLink(namespace: NamespacePath, name: string): Command {
  const link = linkName(name);
  return {
    tool: 'ip',
    namespace,
    lines: () => [`link show dev ${link}`],
    where: at(`link ${link}`, namespace),
  };
}

export function setLink(namespace: NamespacePath, name: string, to: LinkSettings): Command {
  const words: string[] = [];
  if (to.mtu !== undefined) words.push('mtu', wholeNumber('MTU', to.mtu));
  if (to.mac !== undefined) words.push('address', macAddress(to.mac));
  if (to.alias !== undefined) words.push('alias', quotedAlias(to.alias));
  if (to.up !== undefined) words.push(to.up ? 'up' : 'down');
  const link = linkName(name);
  return {
    tool: 'ip',
    namespace,
    lines: () => [`link set dev ${link} ${words.join(' ')}`],
    where: at(`link ${link}`, namespace),
  };
}

/** IPv6 addresses skip duplicate detection: they are allocated uniquely and must be usable at once. */
export function addAddress(namespace: NamespacePath, name: string, address: string): Command {
  const link = linkName(name);
  const nodad = isV6(cidr(address)) ? ' nodad' : '';
  return {
    tool: 'ip',
    namespace,
    lines: () => [`addr add ${address} dev ${link}${nodad}`],
    where: at(`address ${address} of ${link}`, namespace),
  };
}

export function deleteAddress(namespace: NamespacePath, name: string, address: string): Command {
  const link = linkName(name);
  cidr(address);
  return {
    tool: 'ip',
    namespace,
    lines: () => [`addr del ${address} dev ${link}`],
    where: at(`address ${address} of ${link}`, namespace),
  };
}

export function route(
  verb: 'add' | 'replace' | 'del',
  namespace: NamespacePath,
  desired: Omit<LinuxRoute, 'protocol'>,
): Command {
  const words = ['route', verb, cidr(desired.destination)];
  if (desired.gateway !== undefined) words.push('via', ipAddress(desired.gateway));
  words.push('dev', linkName(desired.device));
  if (!isV6(desired.destination)) words.push('scope', desired.scope);
  if (desired.metric !== 0) words.push('metric', wholeNumber('metric', desired.metric));
  words.push('proto', String(AGENT_ROUTE_PROTOCOL));
  return {
    tool: 'ip',
    namespace,
    lines: () => [words.join(' ')],
    where: at(`route ${desired.destination} dev ${desired.device}`, namespace),
  };
}

export function setNeighbor(
  namespace: NamespacePath,
  entry: Omit<LinuxNeighbor, 'permanent'>,
): Command {
  const line =
    `neigh replace ${ipAddress(entry.address)} lladdr ${macAddress(entry.mac)} ` +
    `dev ${linkName(entry.device)} nud permanent`;
  return {
    tool: 'ip',
    namespace,
    lines: () => [line],
    where: at(`neighbor ${entry.address} dev ${entry.device}`, namespace),
  };
}

export function deleteNeighbor(namespace: NamespacePath, device: string, address: string): Command {
  const line = `neigh del ${ipAddress(address)} dev ${linkName(device)}`;
  return {
    tool: 'ip',
    namespace,
    lines: () => [line],
    where: at(`neighbor ${address} dev ${device}`, namespace),
  };
}

export function setChecksumOffload(
  namespace: NamespacePath,
  name: string,
  offload: { readonly rx?: boolean; readonly tx?: boolean },
): Command {
  const words: string[] = [];
  if (offload.rx !== undefined) words.push('rx', offload.rx ? 'on' : 'off');
  if (offload.tx !== undefined) words.push('tx', offload.tx ? 'on' : 'off');
  const link = linkName(name);
  return {
    tool: 'sh',
    namespace,
    lines: () => [words.length === 0 ? ':' : `ethtool -K '${link}' ${words.join(' ')} >/dev/null`],
    where: at(`checksum offload of ${link}`, namespace),
  };
}

export function setSysctl(namespace: NamespacePath, name: string, value: string): Command {
  const path = sysctlPath(name);
  const text = sysctlValue(value);
  return {
    tool: 'sh',
    namespace,
    lines: () => [`printf '%s\\n' '${text}' > '${path}'`],
    where: at(`sysctl ${name}`, namespace),
  };
}

export function dump(namespace: NamespacePath): Command {
  return { tool: 'dump', namespace, lines: () => [], where: at('dump', namespace) };
}
