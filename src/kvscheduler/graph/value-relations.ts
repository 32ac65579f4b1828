/**
 * Relations of single values, for documents: read in slices of the main thread, because any number of
 * values may match a dependency. The graph may change in between.
 */
import type { Slices } from '#infra/clock/slices.ts';
import type { Dependency } from '../api/descriptor.ts';
import type { Graph } from './graph.ts';
import type { Node } from './node.ts';
import { claimsAwaitedBy, faultsOf } from './value-status.ts';

export interface Matches {
  /** Those that meet the dependency, in no order. */
  readonly meeting: readonly Node[];
  /** Some that would if they were available; only while none meets it. */
  readonly unavailable: readonly Node[];
  /** There are more that meet it. */
  readonly hasMore: boolean;
}

const CANDIDATES = 5;

export class ValueRelations {
  readonly #graph: Graph;
  readonly #slices: Slices;
  /** Prefixes of which no key is available: many values may wait for the same. */
  readonly #unavailable = new Set<string>();

  constructor(graph: Graph, slices: Slices) {
    this.#graph = graph;
    this.#slices = slices;
  }

  /** @param limit of the values that meet it */
  async matches(node: Node, { key, anyOf }: Dependency, limit: number): Promise<Matches> {
    const meeting = new Set<Node>();
    const candidates = new Set<Node>();
    const named = key === undefined ? undefined : this.#graph.peek(key);
    if (named) (meets(node, named) ? meeting : candidates).add(named);
    for (const prefix of anyOf?.prefixes ?? [])
      for (const other of this.#graph.stepwise(prefix)) {
        if (this.#slices.due()) await this.#slices.turn();
        if (!(anyOf?.accepts?.(other.key) ?? true)) continue;
        if (meets(node, other)) meeting.add(other);
        else if (candidates.size < CANDIDATES) candidates.add(other);
        if (meeting.size > limit) return { ...found(meeting, limit), hasMore: true };
      }
    if (meeting.size > 0) return { ...found(meeting, limit), hasMore: meeting.size > limit };
    return { meeting: [], unavailable: [...candidates], hasMore: false };
  }

  async isMet(node: Node, { key, anyOf }: Dependency): Promise<boolean> {
    if (key !== undefined && meets(node, this.#graph.peek(key))) return true;
    for (const prefix of anyOf?.prefixes ?? []) {
      if (this.#unavailable.has(prefix)) continue;
      let isAvailable = false;
      for (const other of this.#graph.stepwise(prefix)) {
        if (this.#slices.due()) await this.#slices.turn();
        if (!other.available) continue;
        isAvailable = true;
        if (meets(node, other) && (anyOf?.accepts?.(other.key) ?? true)) return true;
      }
      if (!isAvailable) this.#unavailable.add(prefix);
    }
    return false;
  }

  /** As in its status: what a pending value waits for, the wrong fields of an invalid one. */
  async detailsOf(node: Node): Promise<readonly string[]> {
    if (node.state !== 'PENDING') return faultsOf(node);
    const labels: string[] = [];
    for (const dependency of node.desiredDependencies)
      if (!(await this.isMet(node, dependency))) labels.push(dependency.label);
    return labels.length > 0 ? labels : claimsAwaitedBy(this.#graph, node);
  }
}

/** Values that are derived from it exist only after it: they do not count. */
function meets(node: Node, other: Node | undefined): boolean {
  return (other?.available ?? false) && other?.base !== node;
}

function found(meeting: ReadonlySet<Node>, limit: number): Omit<Matches, 'hasMore'> {
  return { meeting: [...meeting].slice(0, limit), unavailable: [] };
}
