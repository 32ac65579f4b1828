/** Type and outcome of a transaction and of its operations, in words. */
import type {
  TransactionOperation,
  TransactionSummary,
} from '#documents/scheduler/transaction-pages.ts';
import { countText, numberText } from '../../components/counts.ts';
import type { Tone } from '../../components/tone.ts';

const resyncTexts: Readonly<Record<string, string>> = {
  FullResync: 'full resync',
  UpstreamResync: 'upstream resync',
  DownstreamResync: 'downstream resync',
};

const typeTexts: Readonly<Record<string, string>> = {
  NBTransaction: 'desired state',
  SBNotification: 'notification',
  RetryFailedOps: 'retry',
};

/** `desired state, full resync`, `retry 2 of #7`. */
export function typeText(transaction: TransactionSummary): string {
  const { TxnType, ResyncType, RetryForTxn, RetryAttempt } = transaction;
  if (RetryForTxn !== null) return `retry ${RetryAttempt} of #${RetryForTxn}`;
  const type = typeTexts[TxnType] ?? TxnType;
  return ResyncType === null ? type : `${type}, ${resyncTexts[ResyncType] ?? ResyncType}`;
}

export interface Mark {
  readonly tone: Tone;
  readonly text: string;
}

/** The outcome of a transaction; the worst first. */
export function outcomeMarks(transaction: TransactionSummary): readonly Mark[] {
  const { Failed, NotExecuted, Reverted, Errors, Omitted } = transaction;
  const marks: Mark[] = [];
  if (Failed > 0) marks.push({ tone: 'bad', text: `${numberText(Failed)} failed` });
  if (Errors > 0) marks.push({ tone: 'bad', text: countText(Errors, 'error') });
  if (NotExecuted > 0)
    marks.push({ tone: 'waiting', text: `${numberText(NotExecuted)} not executed` });
  if (Reverted > 0) marks.push({ tone: 'waiting', text: `${numberText(Reverted)} undone` });
  if (marks.length === 0) marks.push({ tone: 'good', text: 'ok' });
  if (Omitted > 0) marks.push({ tone: 'neutral', text: `${numberText(Omitted)} left out` });
  return marks;
}

/** How an operation differs from one that was executed as planned. */
export function operationMarks(operation: TransactionOperation): readonly Mark[] {
  const { ExecutedAt, NewErrMsg, IsPlanned } = operation;
  const marks: Mark[] = [];
  if (ExecutedAt === null) marks.push({ tone: 'waiting', text: 'not executed' });
  else if (NewErrMsg !== undefined) marks.push({ tone: 'bad', text: 'failed' });
  if (operation.IsRevert) marks.push({ tone: 'waiting', text: 'undo' });
  else if (!IsPlanned) marks.push({ tone: 'waiting', text: 'not planned' });
  if (operation.IsRetry) marks.push({ tone: 'neutral', text: 'retry' });
  if (operation.IsRecreate) marks.push({ tone: 'neutral', text: 'recreated' });
  if (operation.NOOP) marks.push({ tone: 'neutral', text: 'no request' });
  if (operation.IsProperty) marks.push({ tone: 'neutral', text: 'property' });
  else if (operation.IsDerived) marks.push({ tone: 'neutral', text: 'derived' });
  return marks;
}

/** The state that was planned, if another one was reached. */
export function missedState(operation: TransactionOperation): string | undefined {
  const { PlannedState, NewState, ExecutedAt } = operation;
  return ExecutedAt === null || PlannedState === null || PlannedState === NewState
    ? undefined
    : PlannedState;
}
