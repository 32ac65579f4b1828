/**
 * Run-time data of configured interfaces, as the scheduler's metadata maps hold it under the
 * interface's key. Read-only for everyone but the descriptor that makes it.
 */
import type { InterfaceType as VppInterfaceType } from '#models/vpp/interface.gen.ts';

export interface VppInterfaceMetadata {
  readonly swIfIndex: number;
  readonly type: VppInterfaceType;
  /** Table of its addresses; of an unnumbered interface that of its lender counts. */
  readonly vrf: number;
  /** Those of the configuration; one that DHCP gave is in the lease. */
  readonly ipAddresses: readonly string[];
  /** A DHCP client runs on it, so it has, or is to have, an IPv4 address. */
  readonly dhcpClient?: true;
  /**
   * Name in the kernel: of a TAP the one that VPP gave to its other side, of an AF_PACKET interface
   * that of the link it is bound to.
   */
  readonly hostIfName?: string;
}

export interface LinuxInterfaceMetadata {
  /** Path of the namespace; undefined is the agent's own. */
  readonly namespace: string | undefined;
  /** Name in the kernel. */
  readonly hostIfName: string;
  /** Of the kernel's side of a TAP: the name that VPP gave it, to which it goes back. */
  readonly vppHostIfName?: string;
}

export interface BridgeDomainMetadata {
  readonly bdId: number;
}
