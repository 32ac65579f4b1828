/** Read port onto the daemon that has taken a NIC from the host for VPP (STN), as plain types. */

export interface StolenInterface {
  /** For example `0000:0b:00.0`. */
  readonly pciAddress: string;
  readonly kernelDriver: string;
  /** CIDRs that the host had on it. */
  readonly addresses: readonly string[];
  readonly routes: readonly StolenRoute[];
}

export interface StolenRoute {
  /** CIDR; empty for the default route. */
  readonly destination: string;
  /** Plain; empty for what is on the link. */
  readonly gateway: string;
}

export interface StnPort {
  /** @param name in the host; empty asks for the first one that was taken */
  stolenInterface(name: string): Promise<StolenInterface>;
}
