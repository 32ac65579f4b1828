/** Read port onto VPP's interfaces, as plain types. */

export interface VppInterfaceInfo {
  readonly swIfIndex: number;
  /** VPP's own name, for example `GigabitEthernet0/8/0`. */
  readonly internalName: string;
  /** `dpdk`, `Loopback`, `af-packet`, … as VPP names the device type. */
  readonly deviceType: string;
  /** What we or somebody else tagged it with; empty when untagged. */
  readonly tag: string;
}

export interface VppView {
  interfaces(): Promise<readonly VppInterfaceInfo[]>;
}
