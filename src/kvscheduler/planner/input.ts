import type { Slices } from '#infra/clock/slices.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Value } from '../api/transaction.ts';
import type { Registry } from '../graph/descriptor-registry.ts';
import type { Graph, Node } from '../graph/graph.ts';

/** A wish for one value, or a report of it from the southbound. */
export interface Target {
  readonly key: string;
  /** null: it shall go, or (reported) is gone. */
  readonly value: Value | null;
  /** Reported, not wished. */
  readonly unmanaged?: boolean;
  readonly metadata?: unknown;
  /** Nobody asked for its removal: nobody asks for the value any more. */
  readonly orphan?: boolean;
}

/** Everything that a plan depends on. Equal input, equal plan. */
export interface PlanInput {
  readonly graph: Graph;
  readonly registry: Registry;
  readonly targets: readonly Target[];
  /** Nodes that may not be as wished. */
  readonly reconcile: Iterable<Node>;
  /** Nodes whose actual value was found to be another than was known. */
  readonly drifted: ReadonlySet<Node>;
  /** Nodes that may not be touched: an operation failed and is not due, or its outcome is unknown. */
  readonly frozen: ReadonlySet<Node>;
  /**
   * Nodes that were as wished until a derived value failed, and now read differently because of it:
   * they are not updated before that is repaired.
   */
  readonly settled: ReadonlySet<Node>;
  /** Undoing: the keys in the order in which they are to be brought back. */
  readonly order?: readonly string[];
  /** Undoing: nodes that were there before the transaction. */
  readonly restored?: ReadonlySet<Node>;
  readonly slices: Slices;
  readonly log: Logger;
}
