import type { Value } from '../api/transaction.ts';
import type { Operation, ValueState } from '../api/value-state.ts';
import type { Draft } from './planned-value.ts';
import type { Reason } from './reason.ts';

export interface PlannedOperation {
  readonly operation: Operation;
  readonly draft: Draft;
  /** What is there, or was known, before; and what is to be there, or to be known, after. */
  readonly before: Value | undefined;
  readonly after: Value | undefined;
  readonly stateBefore: ValueState;
  readonly stateAfter: ValueState;
  /** What a value waits for that is pending from here on. */
  readonly labels: readonly string[];
  readonly errorBefore: Error | undefined;
  readonly errorAfter: Error | undefined;
  /** A descriptor is called. */
  readonly call: boolean;
  /** Only what is known changes. */
  readonly noop: boolean;
  /** Not worth a line in the record: the value was found as it should be. */
  readonly silent: boolean;
  readonly recreate: boolean;
  readonly reason: Reason;
  /** Earlier operations, by their place in the plan, that have to have succeeded. */
  readonly waits: readonly number[];
}
