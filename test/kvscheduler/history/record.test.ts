import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'node:test';
import type { RecordedTxn } from '#kvscheduler/history/record.ts';
import { recordText } from '#kvscheduler/history/record-text.ts';
import { setUp, withDescriptor } from '../support/setup.ts';

const textOf = (record: RecordedTxn): string => [...recordText(record)].join('');

test('a record has the field names of the Go agent, and leaves out what is empty', async () => {
  const bench = setUp();
  await bench.commit({ 'a/1': { v: 1 } }, { description: 'example transaction' });
  await bench.clock.advance(1500);
  await bench.commit({ 'a/1': { v: 2 }, 'b/1': { v: 1, needs: ['a/9'] } }, { description: '' });
  assert.deepEqual(JSON.parse(JSON.stringify(bench.scheduler.record(0))), {
    WithSimulation: true,
    Start: '2026-01-01T00:00:00.000Z',
    Stop: '2026-01-01T00:00:00.000Z',
    SeqNum: 0,
    TxnType: 'NBTransaction',
    Description: 'example transaction',
    Values: [
      { Key: 'a/1', Value: { ProtoMsgName: 'test.alpha', ProtoMsgData: { v: 1 } }, Origin: 1 },
    ],
    Planned: [
      {
        Operation: 'CREATE',
        Key: 'a/1',
        NewState: 'CONFIGURED',
        NewValue: { ProtoMsgName: 'test.alpha', ProtoMsgData: { v: 1 } },
        Reason: 'changed',
      },
    ],
    Executed: [
      {
        Operation: 'CREATE',
        Key: 'a/1',
        NewState: 'CONFIGURED',
        NewValue: { ProtoMsgName: 'test.alpha', ProtoMsgData: { v: 1 } },
        Reason: 'changed',
      },
    ],
  });
  const second = JSON.parse(JSON.stringify(bench.scheduler.record(1)));
  assert.equal(second.Start, '2026-01-01T00:00:01.500Z');
  assert.deepEqual(second.Executed, [
    {
      Operation: 'CREATE',
      Key: 'b/1',
      NewState: 'PENDING',
      NewValue: { ProtoMsgName: 'test.beta', ProtoMsgData: { v: 1, needs: ['a/9'] } },
      NOOP: true,
      Reason: 'changed',
    },
    {
      Operation: 'UPDATE',
      Key: 'a/1',
      NewState: 'CONFIGURED',
      NewValue: { ProtoMsgName: 'test.alpha', ProtoMsgData: { v: 2 } },
      PrevState: 'CONFIGURED',
      PrevValue: { ProtoMsgName: 'test.alpha', ProtoMsgData: { v: 1 } },
      Reason: 'changed',
    },
  ]);
  assert.equal(bench.scheduler.record(2), undefined);
});

test('errors with quotes and lines survive as JSON', async () => {
  const bench = setUp();
  bench.southbound.fails = () => new Error('he said "no"\nand left');
  await bench.commit({ 'a/1': { v: 1 } });
  const { Executed } = JSON.parse(JSON.stringify(bench.lastRecord()));
  assert.equal(Executed[0].NewErrMsg, 'he said "no"\nand left');
  assert.deepEqual(bench.scheduler.status('a/1').value.error, 'he said "no"\nand left');
});

test('values are converted by their descriptor, and only when they are read', async () => {
  let shown = 0;
  const toJson = ({ v }: { v: number }) => {
    shown++;
    if (v === 2) throw new Error('cannot be shown');
    return { number: v };
  };
  const bench = setUp({}, withDescriptor('alpha', { toJson }));
  await bench.commit({ 'a/1': { v: 1 } });
  await bench.commit({ 'a/2': { v: 2 } });
  assert.equal(shown, 0);
  const [first, second] = bench.scheduler
    .history()
    .map((record) => JSON.parse(JSON.stringify(record)));
  assert.deepEqual(first.Values[0].Value.ProtoMsgData, { number: 1 });
  assert.deepEqual(second.Values[0].Value.ProtoMsgData, { error: 'cannot be shown' });
});

test('arguments and plan are written before the first request is sent', async () => {
  const pieces: string[] = [];
  const bench = setUp({ writer: { write: (text) => pieces.push(text) } });
  let written = '';
  bench.southbound.onCall = () => {
    written ||= pieces.join('');
  };
  await bench.commit(
    { 'a/1': { v: 1 } },
    { description: 'example transaction\n* first\n* second' },
  );
  const edge = '='.repeat(118);
  assert.equal(
    written,
    `+${edge}+
| Transaction #0                                                                                        NB transaction |
+${edge}+
  * transaction arguments:
      - seq-num: 0
      - type: NB transaction
      - Description: example transaction
          * first
          * second
      - values:
          - key: a/1
            value: { v:1 }
  * planned operations:
      1. CREATE:
          - key: a/1
          - value: { v:1 }
          - reason: changed
`,
  );
  const rule = '-'.repeat(118);
  assert.equal(
    pieces.join('').slice(written.length),
    `o${rule}o
  * executed operations (2026-01-01T00:00:00.000Z - 2026-01-01T00:00:00.000Z, duration = 0ms):
      as planned
x${rule}x
x #0                                                                                                          took 0ms x
x${rule}x
`,
  );
  assert.equal(textOf(bench.lastRecord()), pieces.join(''));
});

test('flags of an operation', async () => {
  const bench = setUp({ window: 1 });
  const shown = async (...[desired, options]: Parameters<typeof bench.commit>) => {
    await bench.commit(desired, options);
    const text = textOf(bench.lastRecord());
    const isAsPlanned = text.includes('\n      as planned\n');
    const from = isAsPlanned ? 'planned operations' : 'executed operations';
    const executed = text.slice(text.indexOf(from));
    return [...executed.matchAll(/\d+\. (.*):\n {10}- key: (.*)/g)].map(
      ([, operation, key]) => `${key} ${operation}`,
    );
  };
  const base = { v: 1, needs: ['a/2'], derives: { 'd/a1.0': { v: 1 }, 'p/a1': { v: 1 } } };
  assert.deepEqual(await shown({ 'a/1': base, 'a/3': { v: 1, invalid: true }, 'z/1': { v: 1 } }), [
    'a/1 CREATE [NOOP IS-PENDING]',
    'a/3 CREATE [NOOP INVALID]',
    'z/1 CREATE [NOOP UNIMPLEMENTED]',
  ]);
  assert.deepEqual(await shown({ 'a/1': { ...base, v: 2 } }), ['a/1 CREATE [NOOP STILL-PENDING]']);
  assert.deepEqual(await shown({ 'a/2': { v: 1 }, 'a/3': { v: 2, invalid: true } }), [
    'a/2 CREATE',
    'a/1 CREATE [WAS-PENDING]',
    'd/a1.0 CREATE [DERIVED]',
    'p/a1 CREATE [PROPERTY]',
    'a/3 CREATE [NOOP STILL-INVALID]',
  ]);
  bench.southbound.fails = (verb) => (verb === 'UPDATE' ? new Error('a\nb') : undefined);
  assert.deepEqual(await shown({ 'a/2': { v: 2 }, 'a/3': { v: 1 } }), [
    'a/3 CREATE [FIXED]',
    'a/2 UPDATE [FAILED]',
  ]);
  assert.match(textOf(bench.lastRecord()), / {10}- error: a\n {14}b\n/);
  assert.deepEqual(await shown({ 'a/2': { v: 2 } }), ['a/2 UPDATE [STILL-FAILING]']);
  bench.southbound.fails = () => undefined;
  assert.deepEqual(await shown({ 'a/2': { v: 2 } }), ['a/2 UPDATE [FIXED]']);
  bench.southbound.values.delete('a/3');
  bench.southbound.values.set('a/4', { managed: true, spec: { v: 1 } });
  assert.deepEqual(await shown({}, { mode: 'downstream-resync' }), [
    'a/4 DELETE [DISCOVERED]',
    'a/3 CREATE [WAS-MISSING]',
  ]);
  assert.deepEqual(await shown({ 'z/1': null, 'a/2': { v: 3, recreate: true } }), [
    'z/1 DELETE [NOOP WAS-UNIMPLEMENTED]',
    'd/a1.0 DELETE [DERIVED]',
    'p/a1 DELETE [PROPERTY]',
    'a/1 DELETE [IS-PENDING]',
    'a/2 DELETE [RECREATE]',
    'a/2 CREATE [RECREATE]',
    'a/1 CREATE [WAS-PENDING]',
    'd/a1.0 CREATE [DERIVED]',
    'p/a1 CREATE [PROPERTY]',
  ]);
});

test('the text distinguishes a resync, a report and a retry', async () => {
  const pieces: string[] = [];
  const bench = setUp({ writer: { write: (text) => pieces.push(text) } });
  bench.southbound.fails = () => new Error('no');
  const retry = { periodMs: 100, maxAttempts: 1, exponential: false };
  await bench.commit({ 'a/1': { v: 1 } }, { mode: 'full-resync', retry });
  await bench.commit({}, { mode: 'downstream-resync', retry });
  bench.scheduler.pushNotification([{ key: 'a/f', value: { v: 1 } }]);
  await bench.clock.advance(100);
  await bench.scheduler.dump('SB', { descriptor: 'alpha' });
  const headers = pieces.filter((piece) => piece.startsWith('| Transaction'));
  assert.deepEqual(
    headers.map((header) => header.replaceAll(/^\| |\s*\|\n$/g, '').replace(/ {2,}/, ' / ')),
    [
      'Transaction #0 / NB transaction, Full Resync',
      'Transaction #1 / NB transaction, SB Sync',
      'Transaction #2 / SB notification',
      'Transaction #3 / retrying failed TXN #1 (attempt 1)',
    ],
  );
});

test('long errors count among the bytes that are kept', async () => {
  const bytes = 200_000;
  const bench = setUp({ verify: true, history: { bytes } });
  const kept = () => JSON.stringify(bench.scheduler.history()).length;
  bench.southbound.fails = () => new Error('no '.repeat(3_000));
  for (let n = 0; n < 60; n++) await bench.commit({ [`a/${n}`]: { v: 1 } });
  assert.ok(kept() <= 2 * bytes, `${kept()} characters`);
  bench.southbound.retrieveFails = () => new Error('cannot read '.repeat(3_000));
  for (let n = 0; n < 60; n++) await bench.commit({}, { mode: 'downstream-resync' });
  assert.ok(kept() <= 2 * bytes, `${kept()} characters`);
});

test('a process that is killed during the first request has written arguments and plan', () => {
  const program = join(import.meta.dirname, '../support/killed-process.ts');
  const { signal, stdout } = spawnSync(process.execPath, [program], { encoding: 'utf8' });
  assert.equal(signal, 'SIGKILL');
  assert.match(stdout, /- Description: the last one\n/);
  assert.match(stdout, /- key: a\/1\n +value: \{ v:1 \}\n/);
  assert.match(stdout, /\* planned operations:\n +1\. CREATE:\n/);
  assert.doesNotMatch(stdout, /executed operations/);
});
