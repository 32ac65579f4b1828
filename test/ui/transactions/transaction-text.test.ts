import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type {
  TransactionOperation,
  TransactionSummary,
} from '#documents/scheduler/transaction-pages.ts';
import {
  missedState,
  operationMarks,
  outcomeMarks,
  typeText,
} from '../../../ui/src/views/transactions/transaction-text.ts';

const transaction = (fields: Partial<TransactionSummary> = {}): TransactionSummary => ({
  SeqNum: 1,
  Start: '2026-01-01T00:00:00Z',
  Stop: '2026-01-01T00:00:01Z',
  TookMs: 1000,
  TxnType: 'NBTransaction',
  ResyncType: null,
  Description: '',
  RetryForTxn: null,
  RetryAttempt: null,
  Values: 0,
  Planned: 0,
  Executed: 0,
  Failed: 0,
  NotExecuted: 0,
  NotPlanned: 0,
  Reverted: 0,
  Errors: 0,
  Omitted: 0,
  ...fields,
});

const operation = (fields: Partial<TransactionOperation> = {}): TransactionOperation => ({
  Index: 0,
  ExecutedAt: 0,
  IsPlanned: true,
  PlannedState: 'CONFIGURED',
  Operation: 'CREATE',
  Key: 'a',
  Reason: 'changed',
  PrevState: 'NONEXISTENT',
  NewState: 'CONFIGURED',
  ...fields,
});

const texts = (fields: Partial<TransactionOperation>) =>
  operationMarks(operation(fields)).map(({ text }) => text);

describe('the text of a transaction', () => {
  it('names its type', () => {
    assert.equal(typeText(transaction()), 'desired state');
    assert.equal(typeText(transaction({ ResyncType: 'FullResync' })), 'desired state, full resync');
    assert.equal(typeText(transaction({ TxnType: 'SBNotification' })), 'notification');
    const retry = { TxnType: 'RetryFailedOps', RetryForTxn: 7, RetryAttempt: 2 };
    assert.equal(typeText(transaction(retry)), 'retry 2 of #7');
  });

  it('says what went wrong, the worst first', () => {
    assert.deepEqual(outcomeMarks(transaction()), [{ tone: 'good', text: 'ok' }]);
    assert.deepEqual(
      outcomeMarks(transaction({ Failed: 1, NotExecuted: 2, Reverted: 3 })).map(({ text }) => text),
      ['1 failed', '2 not executed', '3 undone'],
    );
    assert.deepEqual(
      outcomeMarks(transaction({ Omitted: 9 })).map(({ text }) => text),
      ['ok', '9 left out'],
    );
  });
});

describe('the marks of an operation', () => {
  it('are none if it was executed as planned', () => {
    assert.deepEqual(texts({}), []);
  });

  it('tell what was planned from what happened', () => {
    assert.deepEqual(texts({ ExecutedAt: null }), ['not executed']);
    assert.deepEqual(texts({ NewErrMsg: 'no' }), ['failed']);
    assert.deepEqual(texts({ IsPlanned: false }), ['not planned']);
    assert.deepEqual(texts({ IsPlanned: false, IsRevert: true }), ['undo']);
    assert.deepEqual(texts({ IsRetry: true, IsRecreate: true, NOOP: true, IsDerived: true }), [
      'retry',
      'recreated',
      'no request',
      'derived',
    ]);
  });

  it('name the state that was not reached', () => {
    assert.equal(missedState(operation({ NewState: 'PENDING' })), 'CONFIGURED');
    assert.equal(missedState(operation()), undefined);
    assert.equal(missedState(operation({ ExecutedAt: null })), undefined);
    assert.equal(missedState(operation({ PlannedState: null })), undefined);
  });
});
