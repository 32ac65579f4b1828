/** Read ports onto the node that the plugins need, as plain types. The southbound implements them. */

/** One of the host's links. */
export interface HostLink {
  readonly name: string;
  readonly mtu: number;
  /** CIDRs, for example `192.168.16.5/24`; IPv6 link-local ones excluded. */
  readonly addresses: readonly string[];
}

export interface HostPort {
  /**
   * Links of the agent's own namespace in the order in which they were made, without those that the
   * agent has made.
   */
  links(): Promise<readonly HostLink[]>;
  /** Changes with every boot of the machine. */
  bootId(): Promise<string>;
  /** What the path leads to now; undefined when nothing is there. */
  namespaceIdentity(
    path: string,
  ): Promise<{ readonly device: number; readonly inode: number } | undefined>;
  /** Whether the kernel has IPv6 at all. */
  hasIpv6(): Promise<boolean>;
  /** Lets links of a namespace have IPv6 addresses: runtimes switch that off. */
  enableIpv6(namespacePath: string): Promise<void>;
}
