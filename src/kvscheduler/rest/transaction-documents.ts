/** Transactions in parts that a page can show: their records may have thousands of operations with values. */

import type {
  TransactionOperation,
  TransactionSummary,
} from '#documents/scheduler/transaction-pages.ts';
import type { Slices } from '#infra/clock/slices.ts';
import type { ValueState } from '../api/value-state.ts';
import {
  isDifferent,
  isFailed,
  type OperationRow,
  operationRows,
} from '../history/operation-rows.ts';
import type { RecordedTxn } from '../history/record.ts';
import { microsOf } from '../history/time.ts';

/** Summary of a transaction, without its lists. */
export async function summary(
  record: RecordedTxn,
  rows: readonly OperationRow[],
  slices: Slices,
): Promise<TransactionSummary> {
  const { Start, Stop, RetrieveErrors = [], VerificationErrors = [] } = record;
  let failed = 0;
  let notExecuted = 0;
  let notPlanned = 0;
  let reverted = 0;
  await slices.each(rows, (row) => {
    if (isFailed(row)) failed++;
    if (row.executedAt === undefined) notExecuted++;
    if (!row.planned) notPlanned++;
    if (row.operation.IsRevert && row.executedAt !== undefined) reverted++;
  });
  return {
    SeqNum: record.SeqNum,
    Start,
    Stop,
    TookMs: Math.max(0, (microsOf(Stop) ?? 0) - (microsOf(Start) ?? 0)) / 1000,
    TxnType: record.TxnType,
    ResyncType: record.ResyncType ?? null,
    Description: record.Description ?? '',
    RetryForTxn: record.RetryForTxn ?? null,
    RetryAttempt: record.RetryAttempt ?? null,
    Values: record.Values?.length ?? 0,
    Planned: record.Planned?.length ?? 0,
    Executed: record.Executed?.length ?? 0,
    Failed: failed,
    NotExecuted: notExecuted,
    NotPlanned: notPlanned,
    Reverted: reverted,
    Errors: RetrieveErrors.length + VerificationErrors.length,
    Omitted: record.Omitted ?? 0,
  };
}

export interface SummarySelector {
  /** Part of the key of an operation. */
  readonly key: string | undefined;
  /** Only transactions that did not do what was planned, or have errors. */
  readonly isFailed: boolean;
  /** Of the description; without regard to case. */
  readonly text: string | undefined;
}

/** @returns whether a transaction is selected, and its operations for a summary */
export async function selected(
  record: RecordedTxn,
  { key, isFailed: onlyFailed, text }: SummarySelector,
  slices: Slices,
): Promise<OperationRow[] | undefined> {
  const { Description = '', RetrieveErrors = [], VerificationErrors = [] } = record;
  if (text !== undefined && !Description.toLowerCase().includes(text.toLowerCase()))
    return undefined;
  const rows = await operationRows(record, slices);
  let hasKey = key === undefined;
  let hasFailed = !onlyFailed || RetrieveErrors.length + VerificationErrors.length > 0;
  for (const row of rows) {
    if (hasKey && hasFailed) break;
    if (slices.due()) await slices.turn();
    hasKey ||= row.operation.Key.includes(key!);
    hasFailed ||= isFailed(row) || row.executedAt === undefined;
  }
  return hasKey && hasFailed ? rows : undefined;
}

export interface OperationSelector {
  /** Part of its key. */
  readonly key: string | undefined;
  readonly operation: string | undefined;
  readonly isFailed: boolean;
  readonly isDifferent: boolean;
}

/** Indexes of the operations that are selected. */
export async function selectedOperations(
  rows: readonly OperationRow[],
  selector: OperationSelector,
  slices: Slices,
): Promise<number[]> {
  const { key, operation } = selector;
  const found: number[] = [];
  await slices.each(rows, (row, index) => {
    if (key !== undefined && !row.operation.Key.includes(key)) return;
    if (operation !== undefined && row.operation.Operation !== operation) return;
    if (selector.isFailed && !isFailed(row)) return;
    if (selector.isDifferent && !isDifferent(row)) return;
    found.push(index);
  });
  return found;
}

/** @param withValues whether its values before and after are included */
export function operationDocument(
  row: OperationRow,
  index: number,
  withValues: boolean,
): TransactionOperation {
  const { operation, planned, executedAt } = row;
  const { PrevValue, NewValue, NewState, ...others } = operation;
  return {
    Index: index,
    ExecutedAt: executedAt ?? null,
    IsPlanned: planned !== undefined,
    PlannedState: planned ? stateOf(planned.NewState) : null,
    ...others,
    PrevState: stateOf(operation.PrevState),
    NewState: stateOf(NewState),
    ...(withValues && { PrevValue: PrevValue ?? null, NewValue: NewValue ?? null }),
  };
}

function stateOf(state: ValueState | undefined): ValueState {
  return state ?? 'NONEXISTENT';
}
