/** Read port onto VPP's interfaces, as plain types. */

export interface VppInterfaceInfo {
  readonly swIfIndex: number;
  /** VPP's own name, for example `GigabitEthernet0/8/0`. */
  readonly internalName: string;
  /** `dpdk`, `Loopback`, `af-packet`, … as VPP names the device type. */
  readonly deviceType: string;
  /** What we or somebody else tagged it with; empty when untagged. */
  readonly tag: string;
  /** Largest packet that it could carry, which says nothing of the network behind it. */
  readonly mtu: number;
}

/** What a DHCP client of VPP got; IPv4. */
export interface DhcpLease {
  /** VPP's own name. */
  readonly interfaceName: string;
  /** CIDR. */
  readonly address: string;
  /** Plain; empty when the server named none. */
  readonly router: string;
}

export interface VppPort {
  interfaces(): Promise<readonly VppInterfaceInfo[]>;
  /** Those that are in force. */
  leases(): Promise<readonly DhcpLease[]>;
  /**
   * Has VPP remember the way of the next packets that come in, for `vppctl show trace`.
   * @returns what VPP says about input nodes that it lacks
   */
  tracePackets(): Promise<readonly string[]>;
}
