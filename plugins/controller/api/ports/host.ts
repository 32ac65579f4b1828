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

/** A link with the mark of an agent of any label. */
export interface MarkedLink {
  /** Path of its namespace; absent: the namespace of the agent. */
  readonly namespace?: string;
  readonly namespaceIdentity: NamespaceIdentity;
  /** In the kernel. */
  readonly name: string;
  readonly logicalName: string;
  /** Logical name of the other end: a TAP of VPP, or the other end of the veth pair. */
  readonly otherEnd: string;
  readonly mac: string;
  /** CIDRs. */
  readonly addresses: readonly string[];
  /** Permanent ones, on this link. */
  readonly neighbors: readonly Neighbor[];
}

export interface Neighbor {
  /** Without prefix length. */
  readonly address: string;
  readonly mac: string;
}

export interface MarkedLinks {
  readonly links: readonly MarkedLink[];
  /**
   * Namespaces mounted by a container runtime in which no link but the loopback is up: a pod that has lost
   * its link may run there.
   */
  readonly unlinked: readonly string[];
  /** Namespaces that could not be read, with the reason: their links are unknown. */
  readonly unreadable: readonly string[];
}

/** A connection of TCP of a namespace; addresses without prefix length, those of IPv4 as such in sockets of IPv6 too. */
export interface Connection {
  readonly local: ConnectionEnd;
  readonly remote: ConnectionEnd;
  readonly openedBy: 'local' | 'remote';
}

export interface ConnectionEnd {
  readonly address: string;
  readonly port: number;
}

export interface HostPort {
  /**
   * Links in the network namespace of the agent, in the order of their creation, without the links
   * that the agent manages.
   */
  links(): Promise<readonly HostLink[]>;
  /** Searches all network namespaces of the machine. Expensive: a process for each namespace. */
  markedLinks(): Promise<MarkedLinks>;
  /** Changes with every boot of the machine. */
  bootId(): Promise<string>;
  /** Identity of the namespace at this path; undefined if the path does not exist. */
  namespaceIdentity(path: string): Promise<NamespaceIdentity | undefined>;
  /** Network namespaces of the agent and of the first process of the host. */
  ownNamespaces(): Promise<readonly NamespaceIdentity[]>;
  /** Whether the kernel supports IPv6. */
  hasIpv6(): Promise<boolean>;
  /** Whether the kernel translates services at the sockets of this node. */
  hasSocketServices(): Promise<boolean>;
  /**
   * Connections of TCP of a namespace that are open, as far as the kernel tells who has opened them; none if the
   * namespace does not exist. Rejected if there are tens of thousands.
   */
  connections(namespacePath: string): Promise<readonly Connection[]>;
  /** Enables IPv6 addresses in a namespace: container runtimes disable them. */
  enableIpv6(namespacePath: string): Promise<void>;
}
