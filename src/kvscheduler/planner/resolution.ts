/** The result of the first step of planning, for the later steps. */

import type { Node } from '../graph/node.ts';
import type { PlanInput } from './input.ts';
import type { PlannedGraph } from './planned-graph.ts';
import type { PlannedValue } from './planned-value.ts';
import type { Reason } from './reason.ts';

export interface Rejection {
  readonly key: string;
  readonly error: Error;
}

/** A derived value that is ignored as long as another value has its key. */
export interface Contention {
  readonly key: string;
  readonly base: string;
}

export interface Resolution {
  readonly input: PlanInput;
  /** The values of the plan and their relations. */
  readonly graph: PlannedGraph;
  /** Targets that were rejected. */
  readonly refused: readonly Rejection[];
  readonly contentions: readonly Contention[];
  /** Values on which no operation is possible. */
  readonly blocked: readonly PlannedValue[];
  /** The planned value of a node; it is added to the plan if it was not reached yet. */
  touch(node: Node, reason: Reason): PlannedValue;
  /** Whether the southbound lost the value: its dependents may be lost, too, or still exist. */
  isLost(value: PlannedValue): boolean;
}
