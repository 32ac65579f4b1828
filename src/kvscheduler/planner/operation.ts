import type { Value } from '../api/transaction.ts';
import type { Operation, ValueState } from '../api/value-state.ts';
import type { PlannedValue } from './planned-value.ts';
import type { Reason } from './reason.ts';

export interface PlannedOperation {
  readonly operation: Operation;
  readonly value: PlannedValue;
  /** The actual or last known value before, and the one after the operation. */
  readonly before: Value | undefined;
  readonly after: Value | undefined;
  readonly stateBefore: ValueState;
  readonly stateAfter: ValueState;
  /** Of a value that is pending after the operation: each unmet dependency, or the claim, as text. */
  readonly awaited: readonly string[];
  readonly errorBefore: Error | undefined;
  readonly errorAfter: Error | undefined;
  /** The transaction brings the value that was rejected. */
  readonly newlyRejected: boolean;
  /** A descriptor is called. */
  readonly call: boolean;
  /** Only the graph changes. */
  readonly noop: boolean;
  /** It is not recorded: the value was found in the desired state. */
  readonly silent: boolean;
  readonly recreate: boolean;
  readonly reason: Reason;
  /** Positions of earlier operations in the plan that must have succeeded. */
  readonly waits: readonly number[];
  /** Barriers that must be open. */
  readonly barriers: readonly Barrier[];
}

/** Opens when earlier operations have succeeded. Many operations that wait for all of these have one barrier. */
export interface Barrier {
  /** Positions of these operations. */
  readonly waits: readonly number[];
  /** Barriers that must be open, too. */
  readonly barriers: readonly Barrier[];
}
