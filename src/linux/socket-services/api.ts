/**
 * Services as the kernel translates them at a socket: when a process of this node connects, or sends a datagram, to the
 * address of a service, the kernel replaces it by that of a backend before the first packet. Two implementations
 * pass one suite: BPF programs in the kernel, and a model of their decisions.
 */
import { unspecifiedOf } from '#models/ip.ts';

/** Transport protocols whose sockets the kernel can translate: those of SCTP have no hook. */
export type SocketProtocol = 'TCP' | 'UDP';

/** Address and port to which a client connects, or sends a datagram. */
export interface Destination {
  /** Canonical text, without prefix length. */
  readonly address: string;
  readonly port: number;
  readonly protocol: SocketProtocol;
}

/** At which addresses a service is reached: at its own one, or at all addresses of these nodes that the table has. */
export type FrontendScope = 'ADDRESS' | 'THIS_NODE' | 'OTHER_NODES';

/**
 * By which clients reach a service; each once in a table. For those of nodes the address is the unspecified one of
 * its family. A frontend with the address itself precedes them.
 */
export interface Frontend extends Destination {
  readonly scope: FrontendScope;
}

/** An address at which node ports are reached. */
export interface NodeAddress {
  /** Canonical text, without prefix length. */
  readonly address: string;
  /** Whether it is one of this node. */
  readonly isLocal: boolean;
}

/**
 * A link of the host by which clients outside come that ask node ports, or the link to VPP, by which replies to them come.
 * They have indexes, not names, because the kernel knows no names of packets.
 */
export interface ServiceLink {
  readonly index: number;
  /** The way of their packets to VPP; undefined: the link is the one to VPP. */
  readonly toVpp: { readonly index: number; readonly gateway: string } | undefined;
}

export interface SocketBackend {
  /** Canonical text, of the family of the frontends. */
  readonly address: string;
  readonly port: number;
  /** Share of new connections relative to the other backends, from 1 on. */
  readonly weight: number;
}

/** Addresses with the same backends. */
export interface SocketMapping {
  readonly frontends: readonly Frontend[];
  /** Each (address, port) once. Empty: clients are refused. */
  readonly backends: readonly SocketBackend[];
  /** Seconds during which a network namespace reaches the backend that it had before; 0: no session affinity. */
  readonly affinityTimeout: number;
  /**
   * Address of this node that a process in the network of the host gets as its own when it connects, if it has chosen
   * none; empty: the kernel chooses.
   */
  readonly hostSource: string;
}

/** A network namespace whose sockets are not translated. */
export interface ExemptNamespace {
  /** At most `maxExemptionLength.name` bytes. */
  readonly name: string;
  /** At most `maxExemptionLength.path` bytes. */
  readonly path: string;
}

/** Lengths of the fields of an exemption in the table, in bytes. */
export const maxExemptionLength = { name: 64, path: 256 } as const;

export interface SocketService {
  /** `<namespace>/<name>`, at most `MAX_NAME_LENGTH` bytes. */
  readonly name: string;
  readonly mappings: readonly SocketMapping[];
}

/** Length of the name in the table, in bytes: a namespace, `/pod:` and the name of a pod, in words of 4 bytes. */
export const MAX_NAME_LENGTH = 324;

/** A map of the kernel that refuses entries when it is full. */
export interface MapUsage {
  readonly name: string;
  readonly entries: number;
  readonly capacity: number;
}

export interface SocketTableStatistics {
  readonly maps: readonly MapUsage[];
  /** Failures to end connected sockets of removed backends: each is repeated. */
  readonly failedEnds: number;
}

/**
 * Every call rejects with a LinuxError if the kernel refuses. Calls are executed in their order. After a call that
 * was rejected the table may have a part of the change: `services` shows it, and `put` and `delete` can be
 * repeated. During a change each connection gets a backend that its address has before or after it.
 */
export interface SocketTable {
  /** Adds a service, or changes what the table has of it: unchanged mappings and backends are not written. */
  put(service: SocketService): Promise<void>;
  /** A service that is not in the table is ignored. */
  delete(name: string): Promise<void>;
  /** Services of the table, sorted by name; frontends and backends are sorted, weights reduced. */
  services(): Promise<readonly SocketService[]>;
  /** Adds an address of a node, or changes whose it is. */
  putNodeAddress(one: NodeAddress): Promise<void>;
  /** An address that is not in the table is ignored. */
  deleteNodeAddress(address: string): Promise<void>;
  nodeAddresses(): Promise<readonly NodeAddress[]>;
  /**
   * Leads packets to node ports of this node, which enter by the link, to VPP, or back from there.
   * Rejects with a ServiceLinksUnavailableError if the kernel cannot.
   */
  putLink(link: ServiceLink): Promise<void>;
  /** A link that is not in the table is ignored. */
  deleteLink(index: number): Promise<void>;
  /** Those that exist. */
  links(): Promise<readonly ServiceLink[]>;
  /**
   * Leaves the sockets of a namespace alone from now on. Those that were translated before stay as they are.
   * Rejects with a NamespaceNotFoundError if there is no such namespace.
   */
  exempt(namespace: ExemptNamespace): Promise<void>;
  /** A name that is not in the table is ignored. The namespace may have ended. */
  endExemption(name: string): Promise<void>;
  exemptNamespaces(): Promise<readonly ExemptNamespace[]>;
  /**
   * To be called after a resync that was executed. Until the first one, programs of an earlier release whose table this one
   * cannot use continue with theirs; without such programs the table is used from the start. Connected
   * sockets of removed backends are ended.
   */
  resynced(): Promise<void>;
  /**
   * Those that the kernel should have besides the table, and has not, because another program or an operator has removed
   * them: each as text. Nothing is changed.
   */
  lostParts(): readonly string[];
  /** Makes the lost parts again, with this table. */
  restore(): Promise<void>;
  /** As the agent knows them: nothing is read. */
  statistics(): SocketTableStatistics;
  /** Removes the table with all that translates; existing connections continue. It is not used afterwards. */
  remove(): Promise<void>;
}

/** The frontend that clients reach who ask an address of a node. */
export function nodePortFrontend(
  { address, isLocal }: NodeAddress,
  { port, protocol }: Pick<Destination, 'port' | 'protocol'>,
): Frontend {
  return {
    address: unspecifiedOf(address),
    port,
    protocol,
    scope: isLocal ? 'THIS_NODE' : 'OTHER_NODES',
  };
}

/** The smallest weights with the same shares. */
export function reduceWeights(backends: readonly SocketBackend[]): readonly SocketBackend[] {
  const divisor = backends.reduce((all, { weight }) => commonDivisor(all, weight), 0);
  return divisor <= 1
    ? backends
    : backends.map((one) => ({ ...one, weight: one.weight / divisor }));
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}
