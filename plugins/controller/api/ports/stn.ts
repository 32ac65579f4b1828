/** Read port to the STN daemon, which takes over a NIC of the host for VPP, in plain types. */

export interface StolenInterface {
  /** For example `0000:0b:00.0`. */
  readonly pciAddress: string;
  readonly kernelDriver: string;
  /** CIDRs that the host had configured on it. */
  readonly addresses: readonly string[];
  readonly routes: readonly StolenRoute[];
}

export interface StolenRoute {
  /** CIDR; empty for the default route. */
  readonly destination: string;
  /** Address without prefix length; empty for a network on the link. */
  readonly gateway: string;
}

export interface StnPort {
  /** @param name in the host; empty: the first NIC that was taken over */
  stolenInterface(name: string): Promise<StolenInterface>;
}
