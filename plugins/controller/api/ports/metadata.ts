/**
 * Run-time data of configured interfaces, in the scheduler's metadata maps under the key of the
 * interface. Only the descriptor that creates it may change it.
 */
import type { InterfaceType as VppInterfaceType } from '#models/vpp/interface.gen.ts';

export interface VppInterfaceMetadata {
  readonly swIfIndex: number;
  readonly type: VppInterfaceType;
  /**
   * Name in the kernel: of a TAP, the name that VPP gave to the host side; of an AF_PACKET interface,
   * the name of the link that it is bound to.
   */
  readonly hostIfName?: string;
  /** Of a TAP: path of the namespace in which VPP made the host side; absent: that of the agent. */
  readonly hostNamespace?: string;
}

export interface LinuxInterfaceMetadata {
  /** Path of the namespace; undefined: the namespace of the agent. */
  readonly namespace: string | undefined;
  /** Name in the kernel. */
  readonly hostIfName: string;
  /** Of the host side of a TAP: the name that VPP gave it, which is restored on delete. */
  readonly vppHostIfName?: string;
  /** The namespace in which VPP made it; absent: that of the agent. */
  readonly vppHostNamespace?: string;
}

export interface WireguardPeerMetadata {
  readonly peerIndex: number;
  /** Logical name of the interface. */
  readonly iface: string;
  /** Base64. */
  readonly publicKey: string;
}

export interface BridgeDomainMetadata {
  readonly bdId: number;
}

export interface FlowProbeMetadata {
  readonly swIfIndex: number;
}
