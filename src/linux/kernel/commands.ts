/** Operations on the kernel as data, which the thread that carries them out receives as a copy. */
import type { Connection } from '#plugins/controller/api/ports/host.ts';
import type {
  LinkLocation,
  LinkReport,
  LinkSettings,
  LinuxLink,
  LinuxNeighbor,
  LinuxRoute,
  NamespacePath,
  NamespaceState,
} from '../api.ts';
import type { RouteVerb } from '../netlink/routes.ts';
import type { FoundSocket } from '../netlink/sockets.ts';
import {
  checkAddress,
  checkAlias,
  checkCidr,
  checkLinkName,
  checkMac,
  checkNumber,
  checkSysctlValue,
  sysctlPath,
} from './arguments.ts';

type Operation =
  | { readonly kind: 'createVeth'; readonly name: string; readonly peer: LinkLocation }
  | { readonly kind: 'deleteLink'; readonly name: string }
  | { readonly kind: 'beginDeleteTap'; readonly name: string }
  | { readonly kind: 'moveLink'; readonly name: string; readonly to: LinkLocation }
  | { readonly kind: 'setLink'; readonly name: string; readonly settings: LinkSettings }
  | { readonly kind: 'addAddress' | 'deleteAddress'; readonly name: string; readonly cidr: string }
  | {
      readonly kind: 'changeRoute';
      readonly verb: RouteVerb;
      readonly route: Omit<LinuxRoute, 'protocol'>;
    }
  | { readonly kind: 'setNeighbor'; readonly entry: Omit<LinuxNeighbor, 'permanent'> }
  | { readonly kind: 'deleteNeighbor'; readonly device: string; readonly address: string }
  | { readonly kind: 'setChecksumOffload'; readonly name: string; readonly offload: Offload }
  | { readonly kind: 'setSysctl'; readonly path: string; readonly value: string }
  | { readonly kind: 'dump' }
  | { readonly kind: 'findLinks'; readonly names: readonly string[] }
  | { readonly kind: 'reportLinks' }
  | { readonly kind: 'namespaceCookie' }
  | { readonly kind: 'datagramSockets' | 'tcpConnections' }
  | { readonly kind: 'seenConnections'; readonly states: number }
  | { readonly kind: 'endDatagramSocket'; readonly socket: FoundSocket };

export interface Offload {
  readonly rx?: boolean;
  readonly tx?: boolean;
}

export type Command = Operation & {
  readonly namespace: NamespacePath;
  /** Object of the command, for errors. */
  readonly where: string;
};

/** Result of a command; undefined for commands that change something. */
export type Answer =
  | NamespaceState
  | readonly LinuxLink[]
  | readonly LinkReport[]
  | readonly FoundSocket[]
  | readonly Connection[]
  | Uint8Array
  | bigint
  | undefined;

/** Answer of the thread to a command. */
export type Outcome =
  | { readonly answer: Answer; readonly failure?: never }
  | { readonly failure: Failure };

/** The thread has started, or the outcome of the next command of its batch. */
export type ThreadMessage = 'ready' | Outcome;

export interface Failure {
  readonly text: string;
  readonly where: string;
  readonly errno: string | undefined;
  readonly isNamespaceGone: boolean;
}

function at(what: string, namespace: NamespacePath): string {
  return namespace === undefined ? what : `${what} in ${namespace}`;
}

export function createVeth(a: LinkLocation, b: LinkLocation): Command {
  checkLinkName(a.name);
  checkLinkName(b.name);
  const where = at(`veth ${a.name} and ${b.name}`, a.namespace);
  return { kind: 'createVeth', namespace: a.namespace, name: a.name, peer: b, where };
}

export function deleteLink(namespace: NamespacePath, name: string): Command {
  checkLinkName(name);
  return { kind: 'deleteLink', namespace, name, where: at(`link ${name}`, namespace) };
}

export function beginDeleteTap(namespace: NamespacePath, name: string): Command {
  checkLinkName(name);
  return { kind: 'beginDeleteTap', namespace, name, where: at(`link ${name}`, namespace) };
}

export function moveLink({ namespace, name }: LinkLocation, to: LinkLocation): Command {
  checkLinkName(name);
  checkLinkName(to.name);
  return { kind: 'moveLink', namespace, name, to, where: at(`link ${name}`, namespace) };
}

export function setLink(namespace: NamespacePath, name: string, settings: LinkSettings): Command {
  checkLinkName(name);
  const { mtu, mac, alias } = settings;
  if (mtu !== undefined) checkNumber('MTU', mtu);
  if (mac !== undefined) checkMac(mac);
  if (alias !== undefined) checkAlias(alias);
  return { kind: 'setLink', namespace, name, settings, where: at(`link ${name}`, namespace) };
}

export function changeAddress(
  kind: 'addAddress' | 'deleteAddress',
  namespace: NamespacePath,
  name: string,
  cidr: string,
): Command {
  checkLinkName(name);
  checkCidr(cidr);
  return { kind, namespace, name, cidr, where: at(`address ${cidr} of ${name}`, namespace) };
}

export function changeRoute(
  verb: RouteVerb,
  namespace: NamespacePath,
  route: Omit<LinuxRoute, 'protocol'>,
): Command {
  checkCidr(route.destination);
  if (route.gateway !== undefined) checkAddress(route.gateway);
  checkLinkName(route.device);
  checkNumber('metric', route.metric);
  const where = at(`route ${route.destination} dev ${route.device}`, namespace);
  return { kind: 'changeRoute', verb, namespace, route, where };
}

export function setNeighbor(
  namespace: NamespacePath,
  entry: Omit<LinuxNeighbor, 'permanent'>,
): Command {
  checkAddress(entry.address);
  checkMac(entry.mac);
  checkLinkName(entry.device);
  const where = at(`neighbor ${entry.address} dev ${entry.device}`, namespace);
  return { kind: 'setNeighbor', namespace, entry, where };
}

export function deleteNeighbor(namespace: NamespacePath, device: string, address: string): Command {
  checkAddress(address);
  checkLinkName(device);
  const where = at(`neighbor ${address} dev ${device}`, namespace);
  return { kind: 'deleteNeighbor', namespace, device, address, where };
}

export function setChecksumOffload(
  namespace: NamespacePath,
  name: string,
  offload: Offload,
): Command {
  checkLinkName(name);
  const where = at(`checksum offload of ${name}`, namespace);
  return { kind: 'setChecksumOffload', namespace, name, offload, where };
}

export function setSysctl(namespace: NamespacePath, name: string, value: string): Command {
  const path = sysctlPath(name);
  checkSysctlValue(value);
  return { kind: 'setSysctl', namespace, path, value, where: at(`sysctl ${name}`, namespace) };
}

export function dump(namespace: NamespacePath): Command {
  return { kind: 'dump', namespace, where: at('dump', namespace) };
}

export function findLinks(namespace: NamespacePath, names: readonly string[]): Command {
  for (const name of names) checkLinkName(name);
  return { kind: 'findLinks', namespace, names, where: at(`links ${names.join(', ')}`, namespace) };
}

export function reportLinks(namespace: NamespacePath): Command {
  return { kind: 'reportLinks', namespace, where: at('links', namespace) };
}

export function namespaceCookie(namespace: NamespacePath): Command {
  return { kind: 'namespaceCookie', namespace, where: at('cookie', namespace) };
}

export function datagramSockets(namespace: NamespacePath): Command {
  return { kind: 'datagramSockets', namespace, where: at('sockets', namespace) };
}

export function tcpConnections(namespace: NamespacePath): Command {
  return { kind: 'tcpConnections', namespace, where: at('connections', namespace) };
}

/** @param states descriptor of a map, which is valid in all threads */
export function seenConnections(namespace: NamespacePath, states: number): Command {
  checkNumber('descriptor', states);
  return { kind: 'seenConnections', namespace, states, where: at('connections', namespace) };
}

export function endDatagramSocket(namespace: NamespacePath, socket: FoundSocket): Command {
  return { kind: 'endDatagramSocket', namespace, socket, where: at('socket', namespace) };
}
