/**
 * What the agent asks of the Linux network stack. Two implementations pass one suite: the real
 * kernel, and a simulated one. Names and numbers are the kernel's (interface names up to 15
 * characters, MAC addresses as lower-case text, addresses as canonical text).
 */
import { CodedError, defineError, type ErrorDetails } from '#infra/errors/errors.ts';

/**
 * A network namespace by path (`/proc/<pid>/ns/net`, `/run/netns/<name>`); undefined is the
 * agent's own. Nothing that is cached about a namespace keeps it alive.
 */
export type NamespacePath = string | undefined;

/**
 * Which namespace a path leads to just now. No two that exist at the same time are alike, but a
 * while after one is gone the kernel gives its inode number to a new one: equal numbers alone do
 * not prove that it is still the same namespace.
 */
export interface NamespaceIdentity {
  readonly device: number;
  readonly inode: number;
}

export interface LinuxLink {
  readonly index: number;
  readonly name: string;
  /** `veth`, `tun` (TAP), `loopback`, `ether` … as `ip -d link` names the kind. */
  readonly kind: string;
  readonly up: boolean;
  /** Carrier: for a veth, both ends are up. */
  readonly running: boolean;
  readonly mtu: number;
  readonly mac: string | undefined;
  /** `ip link … alias`: where the mark of what is ours is kept. */
  readonly alias: string | undefined;
  /** Of a veth: index of the other end (possibly in another namespace). */
  readonly peerIndex: number | undefined;
  /** `10.1.1.2/32`, sorted; IPv6 link-local ones excluded. */
  readonly addresses: readonly string[];
}

export type RouteScope = 'global' | 'site' | 'link' | 'host';

export interface LinuxRoute {
  /** CIDR; the default route is `0.0.0.0/0` or `::/0`. */
  readonly destination: string;
  readonly gateway?: string | undefined;
  readonly device: string;
  /** The kernel keeps none for IPv6: such routes are always `global` in a dump. */
  readonly scope: RouteScope;
  /** 0 asks for the kernel's default: IPv4 keeps 0, IPv6 makes 1024 of it (also in a dump). */
  readonly metric: number;
  /** Number of `rtm_protocol`; ours are marked with `OUR_ROUTE_PROTOCOL`. */
  readonly protocol: number;
}

export interface LinuxNeighbor {
  readonly address: string;
  readonly mac: string;
  readonly device: string;
  /** NUD_PERMANENT; only such entries are ever ours. */
  readonly permanent: boolean;
}

/**
 * What is left out: IPv6 link-local addresses and their routes, routes outside the main table, and
 * routes that lead to no one device (blackhole, multipath).
 */
export interface NamespaceState {
  readonly links: readonly LinuxLink[];
  readonly routes: readonly LinuxRoute[];
  readonly neighbors: readonly LinuxNeighbor[];
}

/** `rtm_protocol` of the routes that we add: what is ours is marked, the rest is left alone. */
export const AGENT_ROUTE_PROTOCOL = 190;

/** One end of a veth pair to be made. */
export interface LinkLocation {
  readonly namespace: NamespacePath;
  readonly name: string;
}

export interface LinkSettings {
  readonly up?: boolean;
  readonly mtu?: number;
  readonly mac?: string;
  readonly alias?: string;
}

/**
 * Every call rejects with LinuxError (the kernel refused; carries the errno name) or
 * NamespaceGoneError. Calls on one namespace are carried out in the order of the calls; those made in
 * the same turn share one process. One that fails does not stop those after it. A namespace is
 * known by its path: two paths to one namespace have no order between them.
 */
export interface LinuxHost {
  /** @returns undefined when nothing is there */
  namespaceIdentity(namespace: NamespacePath): Promise<NamespaceIdentity | undefined>;
  /** The kernel's boot id: changes with every boot, and with it all namespaces and links. */
  bootId(): Promise<string>;
  createVeth(a: LinkLocation, b: LinkLocation): Promise<void>;
  deleteLink(namespace: NamespacePath, name: string): Promise<void>;
  /**
   * Moves a link to another namespace under another name (both may be the same namespace: then it
   * is renamed). It comes out down and without addresses; MTU, MAC and alias stay. Where the name
   * is taken it stays where it was, but may be down and bare.
   */
  moveLink(from: LinkLocation, to: LinkLocation): Promise<void>;
  setLink(namespace: NamespacePath, name: string, settings: LinkSettings): Promise<void>;
  addAddress(namespace: NamespacePath, name: string, address: string): Promise<void>;
  deleteAddress(namespace: NamespacePath, name: string, address: string): Promise<void>;
  addRoute(namespace: NamespacePath, route: Omit<LinuxRoute, 'protocol'>): Promise<void>;
  deleteRoute(namespace: NamespacePath, route: Omit<LinuxRoute, 'protocol'>): Promise<void>;
  /** Adds or replaces a permanent entry. */
  setNeighbor(namespace: NamespacePath, entry: Omit<LinuxNeighbor, 'permanent'>): Promise<void>;
  deleteNeighbor(namespace: NamespacePath, device: string, address: string): Promise<void>;
  /** Checksum offload of one link (ethtool). */
  setChecksumOffload(
    namespace: NamespacePath,
    name: string,
    offload: { readonly rx?: boolean; readonly tx?: boolean },
  ): Promise<void>;
  /** Writes `/proc/sys/<path with dots as slashes>` inside the namespace. */
  setSysctl(namespace: NamespacePath, name: string, value: string): Promise<void>;
  /** Everything of one namespace in one look, sorted by index, destination and address. */
  dump(namespace: NamespacePath): Promise<NamespaceState>;
}

/** The kernel refused, or the tool that asks it did. */
export class LinuxError extends CodedError {
  readonly code = 'CV_LINUX_REFUSED';
  readonly remedy = 'The kernel refused; the text names the link or route and the reason.';
  override readonly name = 'LinuxError';
  /**
   * `EEXIST`, `ENODEV`, `ENETUNREACH` …; `ETIMEDOUT` when the outcome is unknown; undefined when
   * the kernel gave a sentence that says no number.
   */
  readonly errno: string | undefined;

  constructor(
    message: string,
    details: ErrorDetails & { readonly errno?: string | undefined } = {},
  ) {
    super(message, details);
    this.errno = details.errno;
  }
}

export const NamespaceNotFoundError = defineError({
  name: 'NamespaceGoneError',
  code: 'CV_LINUX_NAMESPACE_GONE',
  isRetriable: false,
  unavailable: 'environment',
  remedy: 'Nothing: the pod has ended; its values wait until they are deleted.',
});
