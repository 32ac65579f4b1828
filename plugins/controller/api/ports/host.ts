/** Port to the Linux host, in plain types. `src/linux` implements it. */

/** Identity of a namespace. */
export interface NamespaceIdentity {
  readonly device: number;
  readonly inode: number;
}

/** A link of the host. */
export interface HostLink {
  readonly name: string;
  readonly mtu: number;
  /** CIDRs, for example `192.168.16.5/24`; IPv6 link-local ones excluded. */
  readonly addresses: readonly string[];
}

export interface HostPort {
  /**
   * Links in the network namespace of the agent, in the order of their creation, without the links
   * that the agent manages.
   */
  links(): Promise<readonly HostLink[]>;
  /** Changes with every boot of the machine. */
  bootId(): Promise<string>;
  /** Identity of the namespace at this path; undefined if the path does not exist. */
  namespaceIdentity(path: string): Promise<NamespaceIdentity | undefined>;
  /** Network namespaces of the agent and of the first process of the host. */
  ownNamespaces(): Promise<readonly NamespaceIdentity[]>;
  /** Whether the kernel supports IPv6. */
  hasIpv6(): Promise<boolean>;
  /** Enables IPv6 addresses in a namespace: container runtimes disable them. */
  enableIpv6(namespacePath: string): Promise<void>;
}
