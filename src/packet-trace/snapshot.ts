/**
 * What a packet can go through, told neutrally: it does not matter whether it was read back from a
 * live VPP, from a simulated one, or is what an agent wants. Addresses are text; a MAC that is not
 * known is empty.
 */
export interface Snapshot {
  /** By name. */
  readonly devices: ReadonlyMap<string, Device>;
  readonly wires: readonly Wire[];
}

/** VPP, or one network namespace of Linux. */
export interface Device {
  /** Unique in the snapshot. */
  readonly name: string;
  /** Whether it passes on what is not for itself. A pod does not. */
  readonly forwards: boolean;
  readonly interfaces: ReadonlyMap<string, Interface>;
  readonly routes: readonly Route[];
  readonly neighbors: readonly Neighbor[];
  /** Whether a neighbor is a route to its address, too, as VPP has it. */
  readonly routesToNeighbors: boolean;
  readonly bridges: readonly Bridge[];
  /** Plain addresses that it has on interfaces that are not known. */
  readonly otherAddresses: readonly string[];
  /** Whether it has routes that are not known, as the host of an agent does. */
  readonly hasOtherRoutes: boolean;
}

/** What made it as it is: the key of a value; empty for what follows from nothing configured. */
export interface FromValue {
  readonly key: string;
}

export interface Interface extends FromValue {
  readonly name: string;
  /** Whether it is switched on: its addresses count. */
  readonly enabled: boolean;
  /** Whether packets go through: it is enabled and has a link. */
  readonly up: boolean;
  /** Routing table of what comes in. */
  readonly table: number;
  readonly mac: string;
  /** CIDRs. */
  readonly addresses: readonly string[];
  readonly tunnel: Tunnel | undefined;
  /** Nothing is behind it. */
  readonly isLoopback: boolean;
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
  /** Of routes to the same destination the lowest counts. */
  readonly preference: number;
  readonly action: RouteAction;
}

export type RouteAction =
  /** The next hop is the packet's own destination where it is undefined. */
  | { readonly kind: 'via'; readonly interface: string; readonly nextHop: string | undefined }
  /** Found by looking the next hop up; in the same table, unless there is another one. */
  | { readonly kind: 'recursive'; readonly nextHop: string; readonly table?: number }
  | { readonly kind: 'table'; readonly table: number }
  | { readonly kind: 'drop' };

/** One that does not have to be asked for. */
export interface Neighbor extends FromValue {
  readonly interface: string;
  readonly address: string;
  readonly mac: string;
}

export interface Bridge extends FromValue {
  readonly name: string;
  readonly members: readonly BridgeMember[];
  /** The member that is routed. */
  readonly routed: string | undefined;
  /** Where frames go whose address nobody has learned: everywhere, or nowhere. */
  readonly floods: boolean;
  readonly entries: readonly BridgeEntry[];
}

export interface BridgeMember {
  readonly interface: string;
  /** Split-horizon group: nothing goes from one member of a group to another; 0 for none. */
  readonly group: number;
}

export interface BridgeEntry extends FromValue {
  readonly mac: string;
  /** undefined: dropped. */
  readonly interface: string | undefined;
}

/** Interfaces that hear each other. */
export interface Wire {
  readonly ports: readonly Port[];
  /** Whether there are others on it that are not known. */
  readonly isOpen: boolean;
}

export interface Port {
  readonly device: string;
  readonly interface: string;
}
