import type { Slices } from '#infra/clock/slices.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Value } from '../api/transaction.ts';
import type { Registry } from '../graph/descriptor-registry.ts';
import type { Graph } from '../graph/graph.ts';
import type { Node } from '../graph/node.ts';
import type { BlockReason } from './planned-value.ts';

/** A desired value, or a value that the southbound reports. */
export interface Target {
  readonly key: string;
  /** null: it is to be removed, or (reported) does not exist any more. */
  readonly value: Value | null;
  /** Reported by the southbound, not desired by the northbound. */
  readonly unmanaged?: boolean;
  readonly metadata?: unknown;
  /** It is removed because a resync does not name it. */
  readonly orphan?: boolean;
}

/** Everything that a plan depends on. Equal input, equal plan. */
export interface PlanInput extends PlanScope {
  readonly graph: Graph;
  readonly registry: Registry;
  /** Nodes on which no operation is possible, besides those that `dueRetries` excludes. */
  readonly blocked: ReadonlyMap<Node, BlockReason>;
  /**
   * Nodes that were in the desired state until a derived value failed, and now read differently
   * because of it: they are not updated before that value is repaired.
   */
  readonly updatesBlocked: ReadonlySet<Node>;
  /** Undoing: the keys in the order in which they are restored. */
  readonly undoOrder?: readonly string[];
  /** Undoing: nodes that were available before the transaction. */
  readonly restored?: ReadonlySet<Node>;
  readonly slices: Slices;
  readonly log: Logger;
}

/** Facts that an attempt at a plan knows in addition to the input. */
export interface Attempt {
  /** The blocked nodes of the input, and those that a blocked one needs. */
  readonly blocked: ReadonlyMap<Node, BlockReason>;
  /** Nodes that an earlier attempt reached too late: they may block others. */
  readonly reached: readonly Node[];
  /** Values that have to be recreated so that others get a claim: key to claim. */
  readonly interrupted: ReadonlyMap<string, string>;
}

/** The part of the input that a transaction sets. */
export interface PlanScope {
  readonly targets: readonly Target[];
  /** Nodes that may differ from their desired state. */
  readonly reconcile: readonly Node[];
  /** Nodes whose actual value was found to differ from what was known. */
  readonly drifted: ReadonlySet<Node>;
  /**
   * In a retry: the base nodes whose retry is due. Operations on other values that exist and failed
   * are blocked.
   */
  readonly dueRetries?: ReadonlySet<Node>;
}
