/**
 * Run-time data of configured interfaces, in the scheduler's metadata maps under the key of the
 * interface. Only the descriptor that creates it may change it.
 */
import type { InterfaceType as VppInterfaceType } from '#models/vpp/interface.gen.ts';

export interface VppInterfaceMetadata {
  readonly swIfIndex: number;
  readonly type: VppInterfaceType;
  /** Table of its addresses; of an unnumbered interface, the table of the interface that lends its address. */
  readonly vrf: number;
  /** Configured addresses; an address from DHCP is in the lease. */
  readonly ipAddresses: readonly string[];
  /** A DHCP client runs on it, so it has or will get an IPv4 address. */
  readonly dhcpClient?: true;
  /**
   * Name in the kernel: of a TAP, the name that VPP gave to the host side; of an AF_PACKET interface,
   * the name of the link that it is bound to.
   */
  readonly hostIfName?: string;
}

export interface LinuxInterfaceMetadata {
  /** Path of the namespace; undefined: the namespace of the agent. */
  readonly namespace: string | undefined;
  /** Name in the kernel. */
  readonly hostIfName: string;
  /** Of the host side of a TAP: the name that VPP gave it, which is restored on delete. */
  readonly vppHostIfName?: string;
}

export interface BridgeDomainMetadata {
  readonly bdId: number;
}
