/**
 * The network that a packet can pass through, independent of the source of the data: the actual state
 * of a real or simulated VPP, or the desired state of an agent. Addresses are text; an unknown MAC is
 * empty.
 */
import type { AclConfig } from './acl-config.ts';
import type { CnatConfig } from './cnat.ts';
import type { NodeIsolation } from './isolation.ts';
import type { NatConfig } from './nat-config.ts';
import type { LinkProgram } from './service-links.ts';
import type { SocketServices } from './sockets.ts';

export interface Snapshot {
  /** By name. */
  readonly devices: ReadonlyMap<string, Device>;
  readonly wires: readonly Wire[];
}

/** VPP, or one network namespace of Linux. */
export interface Device {
  /** Unique in the snapshot. */
  readonly name: string;
  /** Whether it forwards packets to other devices. A pod does not. */
  readonly forwards: boolean;
  readonly interfaces: ReadonlyMap<string, Interface>;
  readonly routes: readonly Route[];
  readonly neighbors: readonly Neighbor[];
  /** Whether a neighbor is also a host route to its address, as in VPP. */
  readonly routesToNeighbors: boolean;
  readonly bridges: readonly Bridge[];
  /** Plain addresses on interfaces that are not in the snapshot. */
  readonly otherAddresses: readonly string[];
  /** Whether it has routes that are not in the snapshot, as the host of an agent has. */
  readonly hasOtherRoutes: boolean;
  /** Absent: nothing is translated. */
  readonly nat?: NatConfig | undefined;
  /** Translations of IPv6 in VPP. Absent: none. */
  readonly cnat?: CnatConfig | undefined;
  /** Services that its kernel translates at sockets. Absent: none. */
  readonly sockets?: SocketServices | undefined;
  /** By interface: programs of its kernel that lead clients of services to VPP, and replies back. Absent: none. */
  readonly linkPrograms?: ReadonlyMap<string, LinkProgram> | undefined;
  /** Absent: every packet passes. */
  readonly acls?: AclConfig | undefined;
  /** Of what the ACLs of its node are made. Absent: unknown, hops name the ACL only. */
  readonly isolation?: NodeIsolation | undefined;
}

/** Key of the value that configures this; empty if it results from no configured value. */
export interface FromValue {
  readonly key: string;
}

export interface Interface extends FromValue {
  readonly name: string;
  /** Whether it is enabled: its addresses are in use. */
  readonly enabled: boolean;
  /** Whether it passes packets: it is enabled and its link is up. */
  readonly up: boolean;
  /** Routing table of received packets; of those of IPv4, if `table6` is present. */
  readonly table: number;
  /** Of received packets of IPv6, which VPP assigns by itself; absent: the same. */
  readonly table6?: number;
  readonly mac: string;
  /** CIDRs. */
  readonly addresses: readonly string[];
  /** False: it accepts no packets to be routed, because it has no address and borrows none. */
  readonly isRouted?: boolean;
  readonly tunnel: Tunnel | undefined;
  readonly wireguard?: WireguardLink | undefined;
  /** A loopback: no device is behind it. */
  readonly isLoopback: boolean;
}

/** An interface of WireGuard. */
export interface WireguardLink {
  readonly source: string;
  readonly port: number;
  readonly publicKey: string;
  readonly peers: readonly WireguardEnd[];
}

export interface WireguardEnd extends FromValue {
  readonly publicKey: string;
  readonly endpoint: string;
  readonly port: number;
  /** CIDRs. */
  readonly allowed: readonly string[];
}

/** A VXLAN tunnel. */
export interface Tunnel {
  readonly source: string;
  readonly destination: string;
  readonly vni: number;
  /** Routing table of the outer addresses. */
  readonly table: number;
}

export interface Route extends FromValue {
  readonly table: number;
  /** CIDR of a network. */
  readonly destination: string;
  /** Among routes to the same destination, the lowest value is preferred. */
  readonly preference: number;
  readonly action: RouteAction;
}

export type RouteAction =
  /** Without a next hop, the packet's destination is the next hop. */
  | { readonly kind: 'via'; readonly interface: string; readonly nextHop: string | undefined }
  /** The next hop is looked up in `table`, by default in the same table. */
  | { readonly kind: 'recursive'; readonly nextHop: string; readonly table?: number }
  | { readonly kind: 'table'; readonly table: number }
  /** The source of the packet is looked up there. */
  | { readonly kind: 'source-table'; readonly table: number }
  | { readonly kind: 'drop' }
  /** Dropped, and the sender is told by ICMP. */
  | { readonly kind: 'refuse' };

/** A configured neighbor, for which no ARP request is needed. */
export interface Neighbor extends FromValue {
  readonly interface: string;
  readonly address: string;
  readonly mac: string;
}

export interface Bridge extends FromValue {
  readonly name: string;
  readonly members: readonly BridgeMember[];
  /** The BVI. */
  readonly routed: string | undefined;
  /** Whether frames to unknown MACs are flooded or dropped. */
  readonly floods: boolean;
  readonly entries: readonly BridgeEntry[];
}

export interface BridgeMember {
  readonly interface: string;
  /** Split-horizon group: members of the same group do not forward to each other; 0: no group. */
  readonly group: number;
}

export interface BridgeEntry extends FromValue {
  readonly mac: string;
  /** Undefined: frames are dropped. */
  readonly interface: string | undefined;
}

/** Interfaces that are connected to each other. */
export interface Wire {
  readonly ports: readonly Port[];
  /** Whether it may have other interfaces that are not in the snapshot. */
  readonly isOpen: boolean;
}

export interface Port {
  readonly device: string;
  readonly interface: string;
}
