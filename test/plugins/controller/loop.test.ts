import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLogger } from '#infra/log/log.ts';
import {
  ClosedControllerError,
  EventLoopIsAbortingError,
  FailedValuesError,
  FatalError,
} from '#plugins/controller/api/errors.ts';

import { defineEvent, EventMethod, TransactionType } from '#plugins/controller/api/event.ts';
import { DbResync, ExternalConfigChange } from '#plugins/controller/api/events.ts';
import { emptyResync, handler, makeController, put, settle } from './controller-harness.ts';

const Note = defineEvent<unknown>({
  id: 'note',
  blocking: false,
  name: 'Note',
  method: EventMethod.Update,
});
const Ask = defineEvent<unknown, string>({
  id: 'ask',
  blocking: true,
  name: 'Ask',
  method: EventMethod.Update,
  transactionType: TransactionType.RevertOnFailure,
});

const names = (bench: ReturnType<typeof makeController>) =>
  bench.controller.history.records.map((record) => record.id);

describe('a mistake outside of the handlers', () => {
  it('answers the caller, ends the loop as fatal and says so [R5.6]', async () => {
    const bench = makeController([handler('a', [])], {
      print: (text) => {
        if (text.includes('NEW EVENT: Ask')) throw new Error('a mistake');
      },
    });
    bench.controller.push(emptyResync);
    await settle();
    const first = bench.controller.pushAndWait(Ask.event({}));
    const second = bench.controller.pushAndWait(Ask.event({}));
    await assert.rejects(first, FatalError);
    await assert.rejects(second, EventLoopIsAbortingError);
    assert.equal(bench.states.at(-1)![0], 'error');
    assert.match(bench.states.at(-1)![1]!, /a mistake/);
    await bench.controller.close({ cleanup: false });
  });

  it('is none when a value cannot be merged: the handlers keep theirs', async () => {
    const warnings: unknown[] = [];
    const bench = makeController(
      [handler('a', [], { resync: ({ txn }) => put(txn, 'x', { own: true }) })],
      {
        merge: () => {
          throw new Error('no such field');
        },
        log: { ...silentLogger, warn: (fields: unknown) => void warnings.push(fields) },
      },
    );
    const values = { x: { v: 1 } };
    bench.controller.push(DbResync.event({ local: false, kubeState: {}, externalConfig: values }));
    await settle();
    const change = bench.controller.pushAndWait(
      ExternalConfigChange.event({ source: 'db', values }),
    );
    await assert.rejects(change, (error: FailedValuesError) => {
      assert.ok(error instanceof FailedValuesError);
      assert.deepEqual(
        error.failures.map(({ key, operation, error: { message } }) => [key, operation, message]),
        [['x', 'VALIDATE', 'x: cannot be merged over the value of the agent: no such field']],
      );
      return true;
    });
    assert.deepEqual(
      bench.sink.requests.map((request) => [...request.values]),
      [[['x', { own: true }]], [['x', { own: true }]]],
    );
    assert.deepEqual(warnings[0], { key: 'x', source: 'db', reason: 'no such field' });
    assert.equal(bench.states.at(-1)![0], 'ok');
  });

  it('is none when a payload cannot be written as JSON', async () => {
    const bench = makeController([
      handler('a', [], { update: async ({ callPort: ask }) => void (await ask('n', () => 1n)) }),
    ]);
    bench.controller.push(emptyResync);
    bench.controller.push(Note.event(undefined));
    bench.controller.push(Note.event({ n: 1n }));
    await settle();
    assert.deepEqual(names(bench), ['database-resync', 'note', 'note']);
  });
});

describe('closing', () => {
  it('runs nothing more but the Shutdown, and answers those who wait', async () => {
    let release: () => void = () => undefined;
    const busy = new Promise<void>((resolve) => {
      release = resolve;
    });
    const bench = makeController([
      handler('a', [], {
        update: async ({ event, followUp }) => {
          if (!Ask.is(event)) return;
          await busy;
          followUp(Note.event({}));
          return { reply: 'done' };
        },
      }),
    ]);
    bench.controller.push(emptyResync);
    const running = bench.controller.pushAndWait(Ask.event({}));
    await settle();
    const waiting = bench.controller.pushAndWait(Ask.event({}));
    for (let n = 1; n < 1000; n++) bench.controller.push(Note.event({ n }));
    const closed = bench.controller.close({ cleanup: false });
    assert.throws(() => bench.controller.push(Note.event({})), ClosedControllerError);
    await assert.rejects(waiting, ClosedControllerError);
    release();
    await closed;
    assert.deepEqual(await running, ['done'], 'the event that was being processed ends well');
    assert.deepEqual(names(bench), ['database-resync', 'ask', 'shutdown']);
    assert.equal(bench.clock.pending, 0);
  });

  it('twice is one end', async () => {
    const bench = makeController([handler('a', [])]);
    const ends = [1, 2].map(() => bench.controller.close({ cleanup: false }));
    await Promise.all(ends);
    assert.deepEqual(names(bench), ['shutdown']);
  });
});

describe('the time limit of a handler', () => {
  it('does not count the time during which the process was stopped', async () => {
    let release: () => void = () => undefined;
    const bench = makeController([
      handler('a', [], {
        update: () =>
          new Promise<void>((resolve) => {
            release = resolve;
          }),
      }),
    ]);
    bench.controller.push(emptyResync);
    await settle();
    const answer = bench.controller.pushAndWait(Ask.event({}));
    await settle();
    bench.clock.jump(600_000);
    await bench.clock.advance(5_000);
    release();
    assert.deepEqual(await answer, []);
  });
});
