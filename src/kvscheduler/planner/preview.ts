/** The plan of a change on the current graph; nothing is executed and nothing is read. */

import { InvalidTransactionError } from '../api/errors.ts';
import type { Value } from '../api/transaction.ts';
import { targetsOf } from '../executor/prepare.ts';
import type { SchedulerContext } from '../executor/scheduler-context.ts';
import { type RecordedTxnOp, recordPlanned } from '../history/record.ts';
import { makePlan } from './planner.ts';

export interface PreviewRequest {
  /** `resync`: the values are the whole desired state; other managed values are removed. */
  readonly mode: 'update' | 'resync';
  /** Key to desired value; null removes (updates only). */
  readonly values: ReadonlyMap<string, Value | null>;
}

export interface Preview {
  /** In the order in which a serial scheduler would execute them. */
  readonly Operations: readonly RecordedTxnOp[];
  /** Values that would be rejected. */
  readonly Refused: readonly { readonly Key: string; readonly Error: string }[];
  /**
   * Values that would be read back first, because the outcome of their last operation is unknown. The
   * plan does not change them.
   */
  readonly Unknown: readonly string[];
}

/** @throws InvalidTransactionError */
export function assertPlannable({ mode, values }: PreviewRequest): void {
  for (const [key, value] of values) {
    if (key === '') throw new InvalidTransactionError('a value has no key');
    if (value === null && mode === 'resync')
      throw new InvalidTransactionError(
        'a resync has null: it deletes the values that it does not name',
        { where: key },
      );
  }
}

export async function preview(
  context: SchedulerContext,
  { mode, values }: PreviewRequest,
): Promise<Preview> {
  const { graph, registry, slices, log } = context;
  const plan = await makePlan({
    graph,
    registry,
    targets: await targetsOf(graph, values, mode === 'resync', slices),
    reconcile: [],
    drifted: new Set(),
    blocked: new Map([...graph.withUnknownOutcome].map((node) => [node, 'unknown outcome'])),
    updatesBlocked: new Set(),
    slices,
    log,
  });
  const operations: RecordedTxnOp[] = [];
  for (const operation of plan.operations) {
    if (slices.due()) await slices.turn();
    if (!operation.silent)
      operations.push(recordPlanned(operation, { revert: false, retry: false }));
  }
  return {
    Operations: operations,
    Refused: plan.refused.map(({ key, error }) => ({ Key: key, Error: error.message })),
    Unknown: [...graph.withUnknownOutcome].map(({ key }) => key).sort(),
  };
}
