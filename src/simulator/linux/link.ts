import type { LinkSettings, NamespacePath, RouteScope } from '#linux/api.ts';
import type { Cidr } from '#models/ip.ts';

/** What links and routes know of the namespace that they are in. */
export interface LinkNamespace {
  readonly path: NamespacePath;
  readonly links: ReadonlyMap<string, SimLink>;
  routes: SimRoute[];
  /** @throws LinuxError ENODEV */
  link(name: string, where?: string): SimLink;
  setLink(name: string, settings: LinkSettings): void;
  detach(link: SimLink): void;
  destroy(link: SimLink): void;
}

export interface SimRoute {
  readonly to: Cidr;
  readonly gateway: string | undefined;
  readonly link: SimLink;
  readonly scope: RouteScope;
  readonly metric: number;
  readonly protocol: number;
}

/** An address of a link, as the kernel keeps it. */
export interface SimAddress {
  /** `10.1.1.2/24`. */
  readonly text: string;
  /** IPv4: there was one of the same network before; goes with that one. */
  readonly secondary: boolean;
}

/** One link, wherever it stands. */
export interface SimLink {
  namespace: LinkNamespace;
  index: number;
  name: string;
  readonly kind: 'loopback' | 'veth' | 'tun' | 'ether';
  up: boolean;
  mtu: number;
  readonly mtuRange: readonly [number, number];
  mac: string;
  alias: string | undefined;
  /** Of a veth. */
  peer: SimLink | undefined;
  /** Of a TAP: somebody has it open and says that there is a carrier. Of a NIC: a cable. */
  carrier: boolean;
  addresses: SimAddress[];
  /** `disable_ipv6` of this link. */
  ipv6Disabled: boolean;
  deleted: boolean;
}

export function isRunning(link: SimLink): boolean {
  if (!link.up) return false;
  return link.kind === 'veth' ? link.peer?.up === true : link.kind === 'loopback' || link.carrier;
}

/**
 * A link as somebody outside of the namespaces holds it: who opened a TAP, or bound a packet socket
 * to a link. It stays the same link when that is moved or renamed.
 */
export interface LinkHandle {
  readonly deleted: boolean;
  readonly name: string;
  readonly namespace: NamespacePath;
  readonly mac: string;
  readonly mtu: number;
  readonly up: boolean;
  readonly running: boolean;
  /** Of a TAP: whether its opener lets packets through. */
  setCarrier(carrier: boolean): void;
  setMac(mac: string): void;
  setMtu(mtu: number): void;
  setUp(up: boolean): void;
  /** Of a TAP: its opener closes it, and it vanishes wherever it is. */
  close(): void;
}
