/** Read ports onto the node that the plugins need, as plain types. The southbound implements them. */

/** An address of one of the host's links. */
export interface HostAddress {
  readonly link: string;
  /** CIDR, for example `192.168.16.5/24`. */
  readonly address: string;
}

export interface HostView {
  /** All addresses of all links in the agent's own namespace, IPv6 link-local ones excluded. */
  addresses(): Promise<readonly HostAddress[]>;
  /** Changes with every boot of the machine. */
  bootId(): Promise<string>;
  /** What the path leads to now; undefined when nothing is there. */
  namespaceIdentity(
    path: string,
  ): Promise<{ readonly device: number; readonly inode: number } | undefined>;
}
