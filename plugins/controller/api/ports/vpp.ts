/** Port to VPP's interfaces, in plain types. */
import type { ConnectionEnd, Neighbor } from './host.ts';

export interface VppInterfaceInfo {
  readonly swIfIndex: number;
  /** VPP's own name, for example `GigabitEthernet0/8/0`. */
  readonly internalName: string;
  /** `dpdk`, `Loopback`, `af-packet`, … as VPP names the device type. */
  readonly deviceType: string;
  /** Tag of the interface, of any owner; empty if untagged. */
  readonly tag: string;
  /** Largest packet that the device can carry, which may exceed the MTU of the attached network. */
  readonly mtu: number;
}

/** The MAC of an interface, and its neighbors. */
export interface InterfaceNeighbors {
  readonly mac: string;
  /** Static ones. */
  readonly neighbors: readonly Neighbor[];
}

/** IPv4 lease of a DHCP client of VPP. */
export interface DhcpLease {
  /** VPP's own name. */
  readonly interfaceName: string;
  /** CIDR. */
  readonly address: string;
  /** Address without prefix length; empty if the server sent none. */
  readonly router: string;
}

/** Connections of TCP that an ACL permits by rules of their own, each for packets from the source to the destination. */
export interface PermittedConnections {
  /** Name of the ACL. */
  readonly acl: string;
  readonly connections: readonly {
    readonly source: ConnectionEnd;
    readonly destination: ConnectionEnd;
  }[];
}

/** How VPP segments packets. */
export interface SegmentationTraits {
  /** CPU variant of the code, for example `hsw`; empty: unknown. */
  readonly variant: string;
  /** Whether VPP reports on which interfaces it segments (since v25.10). */
  readonly isReported: boolean;
}

export interface VppPort {
  interfaces(): Promise<readonly VppInterfaceInfo[]>;
  neighborsOf(swIfIndex: number): Promise<InterfaceNeighbors>;
  /** Valid leases. */
  leases(): Promise<readonly DhcpLease[]>;
  /**
   * Connections that ACLs with this prefix of their names permit by rules that make sessions. Of each interface it reads the ACLs at
   * the output up to the first one with the prefix of names, and no other.
   */
  permittedConnections(prefix: string): Promise<readonly PermittedConnections[]>;
  /** Whether VPP can limit the bandwidth of interfaces. */
  hasPolicers(): Promise<boolean>;
  /** Whether VPP can count the flows of interfaces. */
  hasFlowProbe(): Promise<boolean>;
  /** Whether cnat of VPP translates as services need it (since v26.06). */
  hasCnat(): Promise<boolean>;
  /** The part that WireGuard needs and VPP does not have; undefined: none. */
  lackForWireguard(): Promise<string | undefined>;
  segmentation(): Promise<SegmentationTraits>;
  /**
   * Makes VPP trace the next received packets, for `vppctl show trace`.
   * @returns VPP's messages about input nodes that do not exist
   */
  tracePackets(): Promise<readonly string[]>;
}
