import type { LinkSettings, NamespacePath, RouteScope } from '#linux/api.ts';
import type { Cidr } from '#models/ip.ts';

/** The namespace of a link, as links and routes use it. */
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
  protocol: number;
}

/** An address of a link, as the kernel stores it. */
export interface SimAddress {
  /** `10.1.1.2/24`. */
  readonly text: string;
  /** IPv4: an earlier address has the same network; deleting that one deletes this one too. */
  readonly secondary: boolean;
}

/** One link; it may move between namespaces. */
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
  /** TAP: a process has opened it and has set the carrier. NIC: the cable is connected. */
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
 * A handle to a link, as a process has that opened a TAP or bound a packet socket. It refers to the
 * same link after that is moved or renamed.
 */
export interface LinkHandle {
  readonly deleted: boolean;
  readonly name: string;
  readonly namespace: NamespacePath;
  readonly mac: string;
  readonly mtu: number;
  readonly up: boolean;
  readonly running: boolean;
  /** TAP: sets the carrier, as the process that opened it does. */
  setCarrier(carrier: boolean): void;
  setMac(mac: string): void;
  setMtu(mtu: number): void;
  setUp(up: boolean): void;
  /** TAP: the process closes it, which deletes the link in whatever namespace it is. */
  close(): void;
}
