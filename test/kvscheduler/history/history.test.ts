import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { Slices } from '#infra/clock/slices.ts';
import { History } from '#kvscheduler/history/history.ts';
import {
  type RecordedTxn,
  type RecordedTxnOp,
  RecordedValue,
} from '#kvscheduler/history/record.ts';
import { recordText } from '#kvscheduler/history/record-text.ts';
import { defaultRetention } from '#kvscheduler/history/retention.ts';

const HOUR = 60 * 60_000;

function operation(key: string, error?: string): RecordedTxnOp {
  const NewValue = new RecordedValue(undefined, {
    name: key,
    next_hop_addr: '10.1.1.1',
    weight: 1,
  });
  const failed = error !== undefined && { NewErrMsg: error };
  return { Operation: 'CREATE', Key: key, NewState: 'CONFIGURED', NewValue, Reason: '', ...failed };
}

function record(SeqNum: number, operations: readonly RecordedTxnOp[]): RecordedTxn {
  return {
    WithSimulation: true,
    Start: '2026-01-01T00:00:00Z',
    Stop: '2026-01-01T00:00:01Z',
    SeqNum,
    TxnType: 'NBTransaction',
    Values: operations.map(({ Key, NewValue = null }) => ({ Key, Value: NewValue, Origin: 1 })),
    Planned: operations.map((one) => (one.NewErrMsg === undefined ? one : { ...one })),
    Executed: operations,
  };
}

async function setUp() {
  const clock = new ManualClock();
  const history = new History(clock, defaultRetention);
  const slices = new Slices(clock);
  // Records of the first hour have a share of their own.
  await clock.advance(2 * HOUR);
  const add = (one: RecordedTxn) => history.add(one, clock.now(), clock.now(), slices);
  return { history, add };
}

describe('the history of transactions', () => {
  it('keeps small records, failures and executed operations while large transactions pass', async () => {
    const { history, add } = await setUp();
    let next = 0;
    for (let large = 0; large < 12; large++) {
      for (let i = 0; i < 20; i++) await add(record(next++, [operation(`small/${next}`)]));
      const keys = Array.from({ length: 20_000 }, (_, n) => `config/vpp/v2/route/${large}/${n}`);
      await add(
        record(
          next++,
          keys.map((key, n) => operation(key, n % 1000 === 999 ? 'no memory' : undefined)),
        ),
      );
      assert.ok(history.bytes <= defaultRetention.bytes, `${history.bytes} bytes`);
    }
    const records = history.list();
    assert.equal(records.length, 12 * 21);
    const large = records.filter(({ Executed = [] }) => Executed.length > 1);
    assert.equal(large.length, 12);
    for (const { Executed = [] } of large) {
      assert.equal(Executed.filter(({ NewErrMsg }) => NewErrMsg !== undefined).length, 20);
      assert.ok(Executed.length >= 800, `${Executed.length} operations`);
    }
    assert.ok((large.at(-1)?.Executed?.length ?? 0) >= 20_000);
    const small = records.filter(({ Executed = [] }) => Executed.length === 1);
    assert.ok(small.every(({ Omitted }) => Omitted === undefined));
  });

  it('drops small records only if they alone exceed the limit, the oldest first', async () => {
    const { history, add } = await setUp();
    const keys = Array.from({ length: 500 }, (_, n) => `k/${n}`);
    for (let n = 0; n < 200; n++)
      await add(
        record(
          n,
          keys.map((key) => operation(key)),
        ),
      );
    const records = history.list();
    assert.ok(history.bytes <= defaultRetention.bytes);
    assert.ok(records.length < 200 && records.length > 60, `${records.length}`);
    assert.equal(records.at(-1)?.SeqNum, 199);
    assert.equal(records[0]?.SeqNum, 200 - records.length);
  });

  it('prints the operations once if they were executed as planned', () => {
    const text = (one: RecordedTxn) => [...recordText(one)].join('');
    const equal = text(record(1, [operation('a/1'), operation('a/2')]));
    assert.equal(equal.match(/key: a\/1\n {10}- value/g)?.length, 1);
    assert.match(equal, /executed operations .*:\n {6}as planned\nx-/);
    const other = text(record(1, [operation('a/1', 'no'), operation('a/2')]));
    assert.equal(other.match(/key: a\/1\n {10}- value/g)?.length, 2);
    assert.match(text(record(1, [])), /executed operations .*:\n {6}<NONE>\n/);
  });
});
