/**
 * The operations of a transaction, planned and executed in one list: what was planned is compared with what
 * happened, before the identity of the operations is lost in JSON.
 */
import type { Slices } from '#infra/clock/slices.ts';
import type { RecordedTxn, RecordedTxnOp } from './record.ts';

/** One operation of the plan, or one that was executed without being planned. */
export interface OperationRow {
  /** As it was executed, or else as it was planned. */
  readonly operation: RecordedTxnOp;
  readonly planned: RecordedTxnOp | undefined;
  /** Its place in the order of execution, from 0; undefined: it was not executed. */
  readonly executedAt: number | undefined;
}

export function isFailed({ operation, executedAt }: OperationRow): boolean {
  return executedAt !== undefined && operation.NewErrMsg !== undefined;
}

/** It was not planned, was not executed, failed, or ended in another state than planned. */
export function isDifferent(row: OperationRow): boolean {
  const { operation, planned, executedAt } = row;
  if (!planned || executedAt === undefined || isFailed(row)) return true;
  return operation !== planned && operation.NewState !== planned.NewState;
}

/**
 * Planned operations in the order of the plan, which a serial execution follows, then those that were executed
 * without being planned: repairs after a failure, and the undo.
 */
export async function operationRows(
  { Planned = [], Executed = [] }: RecordedTxn,
  slices: Slices,
): Promise<OperationRow[]> {
  const places = new Map<RecordedTxnOp, number>();
  await slices.each(Executed, (operation, at) => void places.set(operation, at));
  const rows: OperationRow[] = [];
  /** Planned operations that are not in the list of the executed ones: they failed, or became others. */
  const open = new Map<string, number>();
  await slices.each(Planned, (planned) => {
    const executedAt = places.get(planned);
    places.delete(planned);
    if (executedAt === undefined) open.set(nameOf(planned), rows.length);
    rows.push({ operation: planned, planned, executedAt });
  });
  for (const [operation, executedAt] of places) {
    if (slices.due()) await slices.turn();
    const name = nameOf(operation);
    // An undo is never what was planned.
    const at = operation.IsRevert ? undefined : open.get(name);
    if (at === undefined) rows.push({ operation, planned: undefined, executedAt });
    else {
      open.delete(name);
      rows[at] = { operation, planned: rows[at]?.planned, executedAt };
    }
  }
  return rows;
}

function nameOf({ Operation, Key }: RecordedTxnOp): string {
  return `${Operation} ${Key}`;
}
