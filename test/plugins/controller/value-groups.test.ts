import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AbortEventError } from '#plugins/controller/api/errors.ts';
import { EventMethod } from '#plugins/controller/api/event.ts';
import type { ReplaceOptions } from '#plugins/controller/api/transaction.ts';
import { DesiredState } from '#plugins/controller/desired-state.ts';
import { emptyResync, handler, makeController, settle } from './controller-harness.ts';
import { Ask, Note } from './test-events.ts';

type Values = Readonly<Record<string, string>>;

const asList = (values: Values) =>
  Object.entries(values).map(([key, by]) => ({ key, value: { by } }));

describe('groups of values', () => {
  const desired = new DesiredState();
  desired.handlers = ['first', 'second'];
  const change = (handlerName: string, group: string, values: Values, options?: ReplaceOptions) => {
    const txn = desired.begin(EventMethod.Update);
    txn.replace(handlerName, group, asList(values), options);
    return [...txn.changes].map(([key, value]) => [key, (value as { by: string } | null)?.by]);
  };

  it('put what differs, of the group that precedes the others', () => {
    assert.deepEqual(change('first', 'a', { x: 'a', y: 'a' }), [
      ['x', 'a'],
      ['y', 'a'],
    ]);
    assert.deepEqual(change('first', 'a', { x: 'a', y: 'a' }), []);
    assert.deepEqual(change('first', 'b', { x: 'b' }), [['x', 'b']]);
    assert.deepEqual(change('second', 'a', { x: 'second' }), [['x', 'second']]);
    assert.deepEqual(desired.owners('x'), ['first/a', 'first/b', 'second/a']);
    assert.deepEqual(
      [...desired.group('first/a')],
      [
        ['x', { by: 'second' }],
        ['y', { by: 'a' }],
      ],
    );
    assert.deepEqual(change('first', 'a', { x: 'a2' }), [['y', undefined]]);
    assert.deepEqual(change('second', 'a', {}), [['x', 'b']]);
    assert.deepEqual(change('first', 'b', {}), [['x', 'a2']]);
    assert.deepEqual(change('first', 'a', {}), [['x', undefined]]);
    assert.equal(desired.value('x'), undefined);
  });

  it('put unchanged values only on request', () => {
    change('first', 'a', { x: 'a' });
    assert.deepEqual(change('first', 'a', { x: 'a', y: 'a' }, { evenUnchanged: true }), [
      ['x', 'a'],
      ['y', 'a'],
    ]);
  });

  it('put nothing that the same event takes back', () => {
    const txn = desired.begin(EventMethod.Update);
    txn.replace('first', 'a', []);
    txn.replace('first', 'a', asList({ x: 'a', y: 'a' }));
    assert.deepEqual([...txn.changes], []);
  });
});

describe('groups of a controller', () => {
  const replacing = (thrown?: Error) =>
    handler('a', [], {
      update: ({ txn, event }) => {
        txn.replace('one', [{ key: 'x', value: event.payload as object }]);
        if (thrown) throw thrown;
      },
    });
  const failing = { seqNum: 0, failures: [{ key: 'x', operation: 'CREATE', error: new Error() }] };

  it('are those of before after a reverted event, and those of now after a best-effort one', async () => {
    const bench = makeController([replacing()]);
    bench.controller.push(emptyResync);
    bench.controller.push(Note.event({ n: 1 }));
    await settle();
    bench.sink.reply = () => failing as never;
    await assert.rejects(bench.controller.pushAndWait(Ask.event({ n: 2 })));
    assert.deepEqual(bench.desired.value('x'), { n: 1 });
    bench.controller.push(Note.event({ n: 3 }));
    await settle();
    assert.deepEqual(bench.desired.value('x'), { n: 3 });
  });

  it('are those of before after an event that was not committed', async () => {
    const bench = makeController([replacing(new AbortEventError('no'))]);
    bench.controller.push(emptyResync);
    bench.controller.push(Note.event({ n: 1 }));
    await settle();
    assert.equal(bench.desired.value('x'), undefined);
  });

  it('of a resync replace all others, but not if it is aborted', async () => {
    let thrown: Error | undefined;
    const bench = makeController([
      handler('a', [], {
        resync: ({ txn, resyncCount }) => {
          txn.replace(`g${resyncCount}`, [{ key: `k${resyncCount}`, value: {} }]);
          if (thrown) throw thrown;
        },
      }),
    ]);
    const owners = () => ['k1', 'k2', 'k3'].flatMap((key) => bench.desired.owners(key));
    bench.controller.push(emptyResync);
    await settle();
    assert.deepEqual(owners(), ['a/g1']);
    bench.controller.push(emptyResync);
    await settle();
    assert.deepEqual(owners(), ['a/g2']);
    thrown = new AbortEventError('no');
    bench.controller.push(emptyResync);
    await settle();
    assert.deepEqual(owners(), ['a/g2']);
  });
});
