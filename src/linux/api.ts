/**
 * The Linux network stack as the agent uses it. Two implementations pass one suite: the real kernel and
 * a simulated one. Names and numbers are the kernel's (interface names up to 15 characters, MAC
 * addresses as lower-case text, addresses as canonical text).
 */
import { CodedError, defineError, type ErrorDetails } from '#infra/errors/errors.ts';
import type { Connection } from '#plugins/controller/api/ports/host.ts';

/**
 * Path of a network namespace (`/proc/<pid>/ns/net`, `/run/netns/<name>`); undefined is the agent's
 * own. Cached data of a namespace does not keep it alive.
 */
export type NamespacePath = string | undefined;

/**
 * The namespace that a path currently refers to. Two existing namespaces never have equal identities,
 * but the kernel reuses the inode number of a deleted one: equal numbers alone do not prove that it is
 * still the same namespace.
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
  /** `ip link … alias`: contains the mark of a managed link. */
  readonly alias: string | undefined;
  /** Of a veth: index of the other end (possibly in another namespace). */
  readonly peerIndex: number | undefined;
  /** `10.1.1.2/32`, sorted; IPv6 link-local ones excluded. */
  readonly addresses: readonly string[];
}

/** State and counters of a link, which no value configures. */
export interface LinkReport {
  readonly index: number;
  readonly name: string;
  /** Of a veth or VLAN, the other end or the parent; 0: none. */
  readonly parentIndex: number;
  /** Of the bridge or bond that the link belongs to; 0: none. */
  readonly masterIndex: number;
  /** Number of RFC 2863: 2 is down, 6 is up. */
  readonly operState: number;
  /** `IFF_…` bits. */
  readonly flags: number;
  /** `ether`, `loopback`. */
  readonly encapsulation: string;
  readonly rxQueues: number;
  readonly txQueues: number;
  readonly txQueueLength: number;
  readonly counters: LinkCounters;
}

export interface LinkCounters {
  readonly rxPackets: number;
  readonly txPackets: number;
  readonly rxBytes: number;
  readonly txBytes: number;
  readonly rxErrors: number;
  readonly txErrors: number;
  readonly rxDropped: number;
  readonly txDropped: number;
}

export type RouteScope = 'global' | 'site' | 'link' | 'host';

export interface LinuxRoute {
  /** CIDR; the default route is `0.0.0.0/0` or `::/0`. */
  readonly destination: string;
  readonly gateway?: string | undefined;
  readonly device: string;
  /** The kernel keeps none for IPv6: such routes are always `global` in a dump. */
  readonly scope: RouteScope;
  /** 0 selects the kernel's default: IPv4 keeps 0, IPv6 uses 1024 (also in a dump). */
  readonly metric: number;
  /** Number of `rtm_protocol`; `AGENT_ROUTE_PROTOCOL` marks managed routes. */
  readonly protocol: number;
}

export interface LinuxNeighbor {
  readonly address: string;
  readonly mac: string;
  readonly device: string;
  /** NUD_PERMANENT; only such entries are managed. */
  readonly permanent: boolean;
}

/** A route of the main table that rejects packets: blackhole, unreachable, prohibit. */
export interface RejectingRoute {
  readonly destination: string;
  readonly metric: number;
}

/**
 * The state of a namespace, without IPv6 link-local addresses and their routes, routes outside the main
 * table, and routes with several devices.
 */
export interface NamespaceState {
  readonly links: readonly LinuxLink[];
  readonly routes: readonly LinuxRoute[];
  readonly neighbors: readonly LinuxNeighbor[];
  /** Never managed; absent: none. */
  readonly rejecting?: readonly RejectingRoute[];
}

/** `rtm_protocol` that marks the routes of the agent; others are left alone. */
export const AGENT_ROUTE_PROTOCOL = 190;

/** Namespace and name of a link. */
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
 * Every call rejects with LinuxError (the kernel refused; contains the errno name) or
 * NamespaceNotFoundError. Calls are executed in their order; calls in the same turn of the event loop are one
 * batch. A failed call does not stop the calls after it.
 */
export interface LinuxHost {
  /** @returns undefined if the path is not a namespace */
  namespaceIdentity(namespace: NamespacePath): Promise<NamespaceIdentity | undefined>;
  /**
   * A path of each network namespace of the machine besides the agent's own: of those that have a name or
   * a process. A named path is preferred, because it exists as long as its namespace.
   */
  namespaces(): Promise<readonly string[]>;
  /** The kernel's boot id: changes with every boot, which deletes all namespaces and links. */
  bootId(): Promise<string>;
  createVeth(a: LinkLocation, b: LinkLocation): Promise<void>;
  deleteLink(namespace: NamespacePath, name: string): Promise<void>;
  /**
   * Begins to delete the link of a TAP, beside the order of the other calls. The kernel takes it out of the namespace
   * within a millisecond, and needs 12 to 30 ms to end it, for which no other call waits. Other kinds of links are refused
   * (EINVAL).
   */
  beginDeleteTap(namespace: NamespacePath, name: string): Promise<void>;
  /**
   * Moves a link to another namespace and name (within one namespace, it is renamed). The moved link is
   * down and without addresses; MTU, MAC and alias stay. If the name is taken, the link stays where it
   * was, but may be down and without addresses.
   */
  moveLink(from: LinkLocation, to: LinkLocation): Promise<void>;
  setLink(namespace: NamespacePath, name: string, settings: LinkSettings): Promise<void>;
  addAddress(namespace: NamespacePath, name: string, address: string): Promise<void>;
  deleteAddress(namespace: NamespacePath, name: string, address: string): Promise<void>;
  addRoute(namespace: NamespacePath, route: Omit<LinuxRoute, 'protocol'>): Promise<void>;
  /**
   * Also replaces the route of any origin that has its destination and metric. One that differs only in
   * its protocol is marked with it; packets keep using it.
   */
  replaceRoute(namespace: NamespacePath, route: Omit<LinuxRoute, 'protocol'>): Promise<void>;
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
  /** Snapshot of one namespace, sorted by index, destination and address. */
  dump(namespace: NamespacePath): Promise<NamespaceState>;
  /**
   * Some links of one namespace, each once, in the order of the names; those that do not exist are missing. The kernel
   * answers with these alone, however many others there are.
   */
  findLinks(namespace: NamespacePath, names: readonly string[]): Promise<readonly LinuxLink[]>;
  /**
   * Connections of TCP that are open, or closed by one end; without those of which the kernel does not tell who has opened
   * them. Rejected if there are tens of thousands.
   */
  connections(namespace: NamespacePath): Promise<readonly Connection[]>;
  /** Counters and states of the links of one namespace, sorted by index. */
  reportLinks(namespace: NamespacePath): Promise<readonly LinkReport[]>;
}

/** The kernel refused. */
export class LinuxError extends CodedError {
  readonly code = 'CV_LINUX_REFUSED';
  readonly remedy =
    'The kernel refused the change. The text names the link or route and the reason.';
  override readonly name = 'LinuxError';
  /**
   * `EEXIST`, `ENODEV`, `ENETUNREACH` …; `ETIMEDOUT` if the outcome is unknown; undefined if the
   * kernel's message has no known number.
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
  name: 'NamespaceNotFoundError',
  code: 'CV_LINUX_NAMESPACE_GONE',
  isRetriable: false,
  unavailable: 'environment',
  remedy: 'None: the pod has ended. Its values stay pending until they are deleted.',
});
