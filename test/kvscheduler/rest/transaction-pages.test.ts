/** REST: summaries of transactions, and the operations of one in parts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Ask, makeBench, restOf } from '../support/rest.ts';
import { type Bench, setUp } from '../support/setup.ts';

interface Summary {
  readonly SeqNum: number;
  readonly [field: string]: unknown;
}

async function numbers(ask: Ask, query: string): Promise<number[]> {
  const { body } = await ask(`GET /scheduler/transactions?${query}`);
  return body.Transactions.map(({ SeqNum }: Summary) => SeqNum);
}

async function rows(ask: Ask, query: string): Promise<string[]> {
  const { body } = await ask(`GET /scheduler/transaction?${query}`);
  return body.Operations.map((row: Record<string, unknown>) =>
    [
      row['ExecutedAt'] ?? '-',
      row['Operation'],
      row['Key'],
      `${row['PlannedState'] ?? '-'}/${row['NewState']}`,
      row['IsRevert'] ? 'revert' : '',
    ]
      .join(' ')
      .trim(),
  );
}

const large = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`a/${n}`, { v: n }]));

describe('/scheduler/transactions', () => {
  it('lists summaries, the newest first, in parts', async () => {
    const bench = await makeBench();
    for (let v = 5; v < 9; v++) await bench.commit({ 'b/1': { v } });
    const ask = restOf(bench);
    assert.deepEqual(await numbers(ask, ''), [5, 4, 3, 2, 1, 0]);
    const { body } = await ask('GET /scheduler/transactions?last=4');
    assert.equal(body.Before, 2);
    assert.deepEqual(await numbers(ask, 'last=4&before=2'), [1, 0]);
    assert.equal((await ask('GET /scheduler/transactions?last=4&before=2')).body.Before, null);
    const [first] = (await ask('GET /scheduler/transactions?before=1')).body.Transactions;
    assert.deepEqual(first, {
      SeqNum: 0,
      Start: first.Start,
      Stop: first.Stop,
      TookMs: 0,
      TxnType: 'NBTransaction',
      ResyncType: null,
      Description: 'test',
      RetryForTxn: null,
      RetryAttempt: null,
      Values: 2,
      Planned: 3,
      Executed: 3,
      Failed: 0,
      NotExecuted: 0,
      NotPlanned: 0,
      Reverted: 0,
      Errors: 0,
      Omitted: 0,
    });
  });

  it('selects by key, by description and by failure', async () => {
    const bench = await makeBench();
    const ask = restOf(bench);
    bench.southbound.fails = (_verb, key) => (key === 'b/1' ? new Error('no') : undefined);
    await bench.commit({ 'b/1': { v: 3 } }, { description: 'Add Pod default/web' });
    bench.southbound.fails = () => undefined;
    await bench.commit({ 'a/7': { v: 3 } });
    assert.deepEqual(await numbers(ask, 'key=d/a1'), [0]);
    assert.deepEqual(await numbers(ask, 'key=a/'), [3, 1, 0]);
    assert.deepEqual(await numbers(ask, 'text=POD'), [2]);
    assert.deepEqual(await numbers(ask, 'failed=true'), [2]);
    assert.deepEqual(await numbers(ask, 'failed=true&key=a/'), []);
    assert.deepEqual(await numbers(ask, 'key=&text='), [3, 2, 1, 0]);
    const [failed] = (await ask('GET /scheduler/transactions?failed=1')).body.Transactions;
    assert.equal(failed.Failed, 1);
  });

  it('limits a list to 200, and rejects what it does not know', async () => {
    const bench = setUp();
    for (let v = 0; v < 210; v++) await bench.commit({ 'a/1': { v } });
    const ask = restOf(bench);
    assert.equal((await numbers(ask, 'last=1000')).length, 200);
    assert.equal((await numbers(ask, '')).length, 50);
    for (const query of ['last=-1', 'since=1', 'failed=maybe'])
      assert.equal((await ask(`GET /scheduler/transactions?${query}`)).status, 400, query);
  });
});

describe('/scheduler/transaction', () => {
  async function failing(onFailure: 'best-effort' | 'revert'): Promise<Bench> {
    const bench = setUp();
    bench.southbound.fails = (_verb, key) => (key === 'b/1' ? new Error('no') : undefined);
    const needy = { v: 1, needs: ['b/1'] };
    await bench.commit({ 'a/1': { v: 1 }, 'b/1': { v: 1 }, 'a/2': needy }, { onFailure });
    return bench;
  }

  it('shows what was planned beside what happened', async () => {
    const ask = restOf(await failing('best-effort'));
    assert.deepEqual(await rows(ask, 'seq-num=0'), [
      '0 CREATE a/1 CONFIGURED/CONFIGURED',
      '1 CREATE b/1 CONFIGURED/FAILED',
      '2 CREATE a/2 CONFIGURED/PENDING',
    ]);
    assert.deepEqual(await rows(ask, 'seq-num=0&failed=true'), ['1 CREATE b/1 CONFIGURED/FAILED']);
    assert.equal((await rows(ask, 'seq-num=0&different=true')).length, 2);
  });

  it('shows what was not executed, and the undo', async () => {
    const ask = restOf(await failing('revert'));
    assert.deepEqual(await rows(ask, 'seq-num=0'), [
      '0 CREATE a/1 CONFIGURED/CONFIGURED',
      '1 CREATE b/1 CONFIGURED/FAILED',
      '- CREATE a/2 CONFIGURED/CONFIGURED',
      '2 DELETE b/1 -/REMOVED revert',
      '3 DELETE a/1 -/REMOVED revert',
    ]);
    const { body } = await ask('GET /scheduler/transaction?seq-num=0&limit=0');
    const { Planned, Executed, Failed, NotExecuted, NotPlanned, Reverted } = body;
    assert.deepEqual(
      { Planned, Executed, Failed, NotExecuted, NotPlanned, Reverted },
      { Planned: 3, Executed: 4, Failed: 1, NotExecuted: 1, NotPlanned: 2, Reverted: 2 },
    );
    assert.deepEqual([body.Matching, body.Operations], [5, []]);
  });

  it('gives a large transaction in parts, each without values unless they are asked for', async () => {
    const bench = setUp();
    await bench.commit(large(1_000));
    const ask = restOf(bench);
    const { body } = await ask('GET /scheduler/transaction?seq-num=0&limit=5000');
    assert.deepEqual([body.Matching, body.Operations.length], [1_000, 200]);
    assert.equal('NewValue' in body.Operations[0], false);
    const part = await ask('GET /scheduler/transaction?seq-num=0&from=998&limit=10');
    assert.deepEqual(
      part.body.Operations.map(({ Index }: { Index: number }) => Index),
      [998, 999],
    );
    const one = (await ask('GET /scheduler/transaction?seq-num=0&from=7&limit=1&values=true')).body
      .Operations[0];
    assert.deepEqual(
      [one.Index, one.PrevValue, one.NewValue.ProtoMsgName],
      [7, null, 'test.alpha'],
    );
    const { text } = await ask('GET /scheduler/transaction?seq-num=0&key=a/99');
    assert.equal(JSON.parse(text).Matching, 11);
  });

  it('selects by operation', async () => {
    const bench = await makeBench();
    await bench.commit({ 'a/1': { v: 9 }, 'b/1': null });
    const ask = restOf(bench);
    const keys = async (operation: string) =>
      (await rows(ask, `seq-num=2&operation=${operation}`)).map((row) => row.split(' ')[2]).sort();
    assert.deepEqual(await keys('DELETE'), ['b/1', 'd/a1.0']);
    assert.deepEqual(await keys('UPDATE'), ['a/1']);
    assert.deepEqual(await keys('CREATE'), []);
  });

  it('answers 404 for a transaction without record, and 400 without a number', async () => {
    const ask = restOf(await makeBench());
    assert.equal((await ask('GET /scheduler/transaction?seq-num=7')).status, 404);
    for (const query of ['', 'seq-num=0&operation=PATCH', 'seq-num=0&limit=x'])
      assert.equal((await ask(`GET /scheduler/transaction?${query}`)).status, 400, query);
  });
});
