/** How packets to all other nodes are protected, for operators: counts, and the names of those that are not reached. */
import type { Clock } from '#infra/clock/clock.ts';
import type { WireguardSession } from '#plugins/controller/api/ports/wireguard.ts';
import type { Node, NodeSyncApi } from '#plugins/nodesync/api.ts';
import { type Ipv4NetApi, type NodeEncryption, nodeEncryptions } from './api.ts';

/** Handshakes are repeated for so long before a missing session is a problem: a node may restart. */
export const NO_SESSION_LIMIT_MS = 180_000;

export interface NodeWithoutSession {
  readonly name: string;
  /** Milliseconds since its last session ended, or since this agent has known its keys. */
  readonly duration: number;
}

export interface EncryptionReport {
  readonly counts: ReadonlyMap<NodeEncryption, number>;
  /** The longest time first. */
  readonly withoutSession: readonly NodeWithoutSession[];
  readonly isolated: readonly string[];
  readonly inClearText: readonly string[];
}

export interface EncryptionStatusDeps {
  readonly nodeName: string;
  readonly nodes: Pick<NodeSyncApi, 'allNodes'>;
  readonly net: Pick<Ipv4NetApi, 'nodeLink' | 'encryptionProblem' | 'wiredKeys'>;
  readonly sessions: () => readonly WireguardSession[];
  readonly clock: Pick<Clock, 'wallTime'>;
}

export class EncryptionStatus {
  readonly #deps: EncryptionStatusDeps;

  constructor(deps: EncryptionStatusDeps) {
    this.#deps = deps;
  }

  /** @returns undefined: this node encrypts nothing, or is not configured yet */
  report(): EncryptionReport | undefined {
    const { nodeName, nodes, net } = this.#deps;
    if (net.wiredKeys() === undefined) return undefined;
    const others = [...nodes.allNodes().values()].filter(({ name }) => name !== nodeName);
    const grouped = Map.groupBy(others, (node) => net.nodeLink(node)?.encryption);
    const of = (state: NodeEncryption): readonly Node[] => grouped.get(state) ?? [];
    const namesOf = (state: NodeEncryption): string[] =>
      of(state)
        .map(({ name }) => name)
        .sort();
    return {
      counts: new Map(nodeEncryptions.map((state) => [state, of(state).length])),
      withoutSession: this.#durations(of('no-session')),
      isolated: namesOf('isolated'),
      inClearText: namesOf('clear-text'),
    };
  }

  /** For the status of the agent; undefined: there is none. */
  problem(): string | undefined {
    const ofNode = this.#deps.net.encryptionProblem();
    if (ofNode !== undefined) return ofNode;
    const missing = (this.report()?.withoutSession ?? []).filter(
      ({ duration }) => duration >= NO_SESSION_LIMIT_MS,
    );
    const [first] = missing;
    if (first === undefined) return undefined;
    const seconds = Math.floor(first.duration / 1_000);
    const more = missing.length > 1 ? `, and with ${missing.length - 1} more nodes` : '';
    return `no session of WireGuard with ${first.name} for ${seconds} s${more}`;
  }

  #durations(nodes: readonly Node[]): NodeWithoutSession[] {
    if (nodes.length === 0) return [];
    const { sessions, clock } = this.#deps;
    const since = new Map(sessions().map((one) => [one.publicKey, one.since.getTime()]));
    const now = clock.wallTime();
    const durationOf = ({ wireguard }: Node): number => {
      const ends = (wireguard?.keys ?? []).flatMap(({ public_key }) => since.get(public_key) ?? []);
      return ends.length === 0 ? 0 : Math.max(0, now - Math.max(...ends));
    };
    return nodes
      .map((node) => ({ name: node.name, duration: durationOf(node) }))
      .sort((a, b) => b.duration - a.duration || (a.name < b.name ? -1 : 1));
  }
}
