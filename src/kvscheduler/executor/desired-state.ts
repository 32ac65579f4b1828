/** How a plan's wishes get into the graph, and out again when they are undone. */

import type { Slices } from '#infra/clock/slices.ts';
import type { Dependency } from '../api/descriptor.ts';
import type { RetryPolicy, Value } from '../api/transaction.ts';
import type { Graph, Node } from '../graph/graph.ts';
import type { Draft } from '../planner/planned-value.ts';

const none: readonly never[] = [];

interface Remembered {
  readonly node: Node;
  readonly wanted: Value | undefined;
  readonly dependencies: readonly Dependency[];
  readonly invalid: Error | undefined;
  readonly seqNum: number;
  readonly retry: RetryPolicy | undefined;
}

/** What was wished before a transaction. */
export class FormerWishes {
  /** Nodes that were there, and meant to stay. */
  readonly stood = new Set<Node>();
  readonly #remembered: Remembered[] = [];

  remember(node: Node): void {
    const { desired: wanted, desiredDependencies: dependencies, invalid, seqNum, retry } = node;
    if (node.available) this.stood.add(node);
    this.#remembered.push({ node, wanted, dependencies, invalid, seqNum, retry });
  }

  /** @returns the nodes that are to be brought back to their former wishes */
  async restore(graph: Graph, slices: Slices): Promise<Node[]> {
    const nodes: Node[] = [];
    for (const {
      node,
      wanted,
      dependencies,
      invalid,
      seqNum,
      retry,
    } of this.#remembered.reverse()) {
      if (slices.due()) await slices.turn();
      graph.setDesired(node, wanted, dependencies);
      node.invalid = invalid;
      node.toBeRemoved = false;
      node.seqNum = seqNum;
      // What cannot be undone at once is repeated as the transaction asks, if nobody else has asked.
      node.retry = retry ?? node.retry;
      nodes.push(node);
    }
    return nodes;
  }
}

export interface Wishing {
  readonly seqNum: number;
  /** Set when the northbound itself speaks: the policy counts for its values from now on. */
  readonly fromNorth: boolean;
  readonly retry: RetryPolicy | undefined;
}

/** Notes in the graph what every draft of a plan shall be; nothing is there yet because of it. */
export async function noteWishes(
  graph: Graph,
  drafts: readonly Draft[],
  { seqNum, fromNorth, retry }: Wishing,
  former: FormerWishes | undefined,
  slices: Slices,
): Promise<void> {
  for (const draft of drafts) {
    if (slices.due()) await slices.turn();
    if (!draft.live && draft.wish === undefined) continue;
    if (!draft.live) {
      const base = draft.baseKey === undefined ? undefined : graph.get(draft.baseKey);
      draft.live = graph.add(draft.key, draft.descriptor, base);
    }
    const node = draft.live;
    former?.remember(node);
    node.toBeRemoved = !draft.up;
    if (draft.held) {
      if (node.desired !== draft.wanted) {
        graph.setDesired(node, draft.wanted, none);
        node.needsInspection = true;
      }
    } else {
      const isBare = draft.foreign || draft.wanted === undefined;
      graph.setDesired(node, draft.wanted, isBare ? none : draft.dependencies);
      node.invalid = draft.invalid;
      node.needsInspection = false;
    }
    if (draft.blocked) graph.setAwaitedClaims(node, [draft.blocked.name]);
    if (!fromNorth || !(draft.target || draft.seed)) continue;
    node.seqNum = seqNum;
    node.retry = retry;
  }
}

/** Forgets those nodes of which nothing is wished and nothing is there. */
export async function sweep(graph: Graph, nodes: Iterable<Node>, slices: Slices): Promise<void> {
  const bases: Node[] = [];
  for (const node of nodes) {
    if (slices.due()) await slices.turn();
    if (node.desired !== undefined || node.actual !== undefined || node.outcomeUnknown) continue;
    if (graph.get(node.key) !== node) continue;
    // A base is not forgotten before what is derived from it.
    if (node.base) graph.remove(node);
    else bases.push(node);
  }
  for (const node of bases) {
    if (slices.due()) await slices.turn();
    if (node.derived.size === 0) graph.remove(node);
  }
}
