import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLogger } from '#infra/log/log.ts';
import type { KeyFailure } from '#kvscheduler/api/transaction.ts';
import {
  AbortEventError,
  EventLoopIsAbortingError,
  FatalError,
} from '#plugins/controller/api/errors.ts';
import {
  DbResync,
  HealingResync,
  KubeStateChange,
  Shutdown,
} from '#plugins/controller/api/events.ts';
import {
  emptyResync,
  eventKindsOf,
  handler,
  makeController,
  put,
  remove,
  settle,
  startedController,
} from './controller-harness.ts';
import { Ask, Note, Recalculate, Undo } from './test-events.ts';

const throwing = (name: string, thrown: unknown, trace: string[] = []) =>
  handler(name, trace, {
    update: () => {
      throw thrown;
    },
  });
const failure = (key: string, more: Partial<KeyFailure> = {}): KeyFailure => {
  return { key, operation: 'CREATE', error: new Error('VPP said -1'), ...more };
};
const dbResync = (externalConfig: Record<string, object>) =>
  DbResync.event({ local: false, kubeState: {}, externalConfig });

describe('optional values', () => {
  it('are those of the last put of each key, in RevertOnFailure events only', async () => {
    const bench = await startedController([
      handler('a', [], {
        update: ({ txn }) => {
          for (const key of ['x', 'y', 'z']) put(txn, key, {}, { optional: true });
          put(txn, 'y', {});
          remove(txn, 'z');
          put(txn, 'n', {});
        },
      }),
    ]);
    bench.controller.push(Note.event({ n: 1 }));
    await bench.controller.pushAndWait(Ask.event({ n: 2 }));
    assert.deepEqual(
      bench.sink.requests.map(({ optional }) => optional && [...optional]),
      [undefined, undefined, ['x']],
    );
  });
});

describe('numbers and boxes', () => {
  it('every event has the next number and two boxes with it [R5.9] [R5.10]', async () => {
    const bench = await startedController([handler('a', [])]);
    bench.controller.push(Note.event({ n: 1 }));
    await bench.controller.pushAndWait(Ask.event({ n: 2 }));
    const { records } = bench.controller.history;
    assert.deepEqual(
      records.map(({ seqNum }) => seqNum),
      [0, 1, 2],
    );
    assert.equal(bench.printed.length, 6);
    assert.match(bench.printed[2]!, /NEW EVENT: Note +#1 \*\n\* {3}EVENT HANDLERS: a /);
    assert.match(bench.printed[3]!, /FINALIZED EVENT: Note +#1 \*\n\* {3}HANDLED BY: a +took 0ms/);
  });

  it('the answer, the record and the second box come when all is done [R5.23]', async () => {
    let committed: () => void = () => undefined;
    const bench = await startedController([
      handler('a', [], { update: ({ txn }) => put(txn, 'x', {}) }),
    ]);
    bench.sink.reply = () =>
      new Promise((resolve) => {
        committed = () => resolve({ seqNum: 1, failures: [] });
      });
    let answered = false;
    const answer = bench.controller.pushAndWait(Ask.event({ n: 1 })).then(() => {
      answered = true;
    });
    await settle();
    assert.deepEqual([answered, eventKindsOf(bench).length, bench.printed.length], [false, 1, 3]);
    committed();
    await answer;
    await settle();
    assert.deepEqual([eventKindsOf(bench).length, bench.printed.length], [2, 4]);
  });

  it('a transaction is found in the record by its number [R5.19]', async () => {
    const bench = await startedController([
      handler('a', [], { update: ({ txn }) => put(txn, 'x', {}) }),
    ]);
    bench.sink.reply = () => ({ seqNum: 42, failures: [] });
    bench.controller.push(Note.event({ n: 1 }));
    await settle();
    bench.sink.reply = () => Promise.reject(new Error('queue full'));
    bench.controller.push(Note.event({ n: 1 }));
    await settle();
    const [, note, refused] = bench.controller.history.records;
    assert.equal(note!.transaction, 42);
    assert.equal(refused!.transaction, undefined);
    assert.equal(refused!.transactionError, 'queue full');
  });
});

describe('errors of handlers', () => {
  for (const error of [new FatalError('dead'), new AbortEventError('stop')])
    it(`${error.name}: nothing is merged or committed, in a resync too [R5.14]`, async () => {
      const bench = makeController([
        handler('a', [], { resync: ({ txn }) => put(txn, 'x', {}) }),
        handler('b', [], {
          resync: () => {
            throw error;
          },
        }),
        handler('c', [], {
          resync: () => {
            throw new Error('must not be asked');
          },
        }),
      ]);
      bench.controller.push(dbResync({ y: {} }));
      await settle();
      assert.equal(bench.sink.requests.length, 0);
      assert.equal(bench.controller.history.records[0]!.handlers.length, 2);
    });

  it('an abort of an event that reverts is reverted and healed [R5.13]', async () => {
    const trace: string[] = [];
    const bench = await startedController([
      handler('a', trace),
      throwing('b', new AbortEventError('stop'), trace),
    ]);
    trace.length = 0;
    await assert.rejects(bench.controller.pushAndWait(Ask.event({ n: 1 })), AbortEventError);
    assert.deepEqual(trace, ['a:update', 'b:update', 'a:revert']);
    await bench.clock.advance(5_000);
    assert.equal(eventKindsOf(bench).at(-1), 'healing-resync');
  });

  it('whatever is thrown has the name of the handler, and breaks nothing', async () => {
    const odd: unknown[] = [
      undefined,
      null,
      7n,
      Symbol('s'),
      Object.create(null),
      {
        toString: () => {
          throw new Error('no text');
        },
      },
      Object.assign(new Error('x'), { message: 5 }),
      Object.defineProperty(new Error('x'), 'message', {
        get: () => {
          throw new Error('no message');
        },
      }),
    ];
    for (const thrown of odd) {
      const bench = await startedController([throwing('odd-one', thrown)]);
      await assert.rejects(
        bench.controller.pushAndWait(Ask.event({ n: 1 })),
        /^Error: odd-one threw /,
      );
      assert.deepEqual(bench.states.at(-1), ['ok', undefined]);
    }
  });

  it('a slow handler is warned about with its age, again and again', async () => {
    const warnings: unknown[] = [];
    let release: () => void = () => undefined;
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    const bench = await startedController([handler('slow-one', [], { update: () => slow })], {
      log: { ...silentLogger, warn: (fields: unknown) => void warnings.push(fields) },
    });
    bench.controller.push(Note.event({ n: 1 }));
    await bench.clock.advance(12_000);
    assert.deepEqual(warnings, [
      { handler: 'slow-one', event: 'note', ageMs: 5_000 },
      { handler: 'slow-one', event: 'note', ageMs: 10_000 },
    ]);
    release();
    await settle();
    assert.equal(bench.clock.pending, 2, 'the trimming of the history, and the deadline');
  });
});

describe('a fatal error', () => {
  it('is status ERROR permanently; no event runs any more, and the process keeps running [R5.31] [R4.6]', async () => {
    const trace: string[] = [];
    const bench = await startedController([throwing('a', new FatalError('dead'), trace)], {
      config: { enablePeriodicHealing: true },
    });
    trace.length = 0;
    bench.controller.push(Note.event({ n: 1 }));
    const behind = bench.controller.pushAndWait(Ask.event({ n: 2 }));
    await assert.rejects(behind, EventLoopIsAbortingError);
    bench.controller.scheduleHealing('VPP reconnected', 0);
    await bench.clock.advance(3_600_000);
    assert.deepEqual(trace, ['a:update']);
    assert.throws(() => bench.controller.push(emptyResync), EventLoopIsAbortingError);
    assert.deepEqual(bench.states.at(-1), ['error', 'dead']);
    assert.equal(bench.states.filter(([state]) => state === 'error').length, 1);
    assert.deepEqual(eventKindsOf(bench), ['database-resync', 'note'], 'the history contains it');
    await bench.controller.close({ cleanup: false });
    assert.deepEqual(trace, ['a:update'], 'not even a Shutdown');
  });

  it('in revert stops the reverting [R5.22]', async () => {
    const trace: string[] = [];
    const bench = await startedController([
      handler('a', trace),
      handler('b', trace, {
        revert: () => {
          throw new FatalError('dead');
        },
      }),
      throwing('c', new Error('no'), trace),
    ]);
    trace.length = 0;
    await assert.rejects(bench.controller.pushAndWait(Ask.event({ n: 1 })), /no; dead/);
    assert.deepEqual(trace, ['a:update', 'b:update', 'c:update', 'b:revert']);
    assert.deepEqual(bench.states.at(-1), ['error', 'dead']);
  });

  it('is no reason to revert [R5.14]', async () => {
    const trace: string[] = [];
    const bench = await startedController([
      handler('a', trace),
      throwing('b', new FatalError('dead'), trace),
    ]);
    trace.length = 0;
    await assert.rejects(bench.controller.pushAndWait(Ask.event({ n: 1 })), FatalError);
    assert.deepEqual(trace, ['a:update', 'b:update']);
  });
});

describe('what is healed', () => {
  const heals = async (bench: ReturnType<typeof makeController>) => {
    const before = eventKindsOf(bench).length;
    await bench.clock.advance(5_000);
    return eventKindsOf(bench).slice(before);
  };

  it('a revert that fails, which is recorded and does not keep the others from theirs [R5.22] [R5.27]', async () => {
    const trace: string[] = [];
    const bench = await startedController([
      handler('a', trace),
      handler('b', trace, {
        revert: () => {
          throw new Error('stuck');
        },
      }),
      throwing('c', new Error('no'), trace),
    ]);
    trace.length = 0;
    await assert.rejects(bench.controller.pushAndWait(Ask.event({ n: 1 })), /no; stuck/);
    assert.deepEqual(trace.slice(3), ['b:revert', 'a:revert']);
    const { handlers } = bench.controller.history.records.at(-1)!;
    assert.deepEqual(
      handlers.map(({ handler: name, revert, error }) => [name, revert, error]),
      [
        ['a', false, undefined],
        ['b', false, undefined],
        ['c', false, 'no'],
        ['b', true, 'stuck'],
        ['a', true, undefined],
      ],
    );
    assert.match(bench.printed.at(-1)!, /REVERTED BY: b, a/);
    assert.deepEqual(await heals(bench), ['healing-resync']);
  });

  it('a transaction that could not be undone cleanly, but not one that could [R5.30]', async () => {
    const bench = await startedController([
      handler('a', [], { update: ({ txn }) => put(txn, 'x', {}) }),
    ]);
    bench.sink.reply = () => ({ seqNum: 1, failures: [failure('x')] });
    await assert.rejects(bench.controller.pushAndWait(Ask.event({ n: 1 })));
    assert.deepEqual(await heals(bench), []);
    const failures = [failure('x'), failure('y', { operation: 'DELETE', revert: true })];
    bench.sink.reply = () => ({ seqNum: 1, failures });
    await assert.rejects(bench.controller.pushAndWait(Ask.event({ n: 1 })));
    bench.sink.reply = () => ({ seqNum: 1, failures: [] });
    assert.deepEqual(await heals(bench), ['healing-resync']);
  });

  it('an update of which the transaction failed, unless it ignores errors [R5.27] [R5.30]', async () => {
    const bench = await startedController([
      handler('a', [], { update: ({ txn }) => put(txn, 'x', {}) }),
    ]);
    const fail = () => ({ seqNum: 1, failures: [failure('x')] });
    bench.sink.reply = fail;
    bench.controller.push(Undo.event({ n: 1 }));
    await settle();
    assert.deepEqual(await heals(bench), []);
    bench.controller.push(Note.event({ n: 1 }));
    await settle();
    bench.sink.reply = () => ({ seqNum: 1, failures: [] });
    assert.deepEqual(await heals(bench), ['healing-resync']);
  });

  for (const event of [
    emptyResync,
    Recalculate.event({}),
    HealingResync.event({ type: 'periodic' }),
  ])
    it(`a failed ${event.kind.id}, and the next error schedules another healing [R5.29] [R5.3]`, async () => {
      const bench = await startedController([]);
      bench.sink.reply = () => ({ seqNum: 1, failures: [failure('x')] });
      bench.controller.push(event);
      await settle();
      bench.sink.reply = () => ({ seqNum: 1, failures: [] });
      assert.deepEqual(await heals(bench), ['healing-resync']);
      assert.deepEqual(bench.states.at(-1), ['ok', undefined]);
      bench.sink.reply = () => ({ seqNum: 1, failures: [failure('x')] });
      bench.controller.push(event);
      await settle();
      bench.sink.reply = () => ({ seqNum: 1, failures: [] });
      assert.deepEqual(await heals(bench), ['healing-resync']);
    });

  it('an error while the healing waits for its turn needs no second one [R5.3]', async () => {
    const bench = await startedController([throwing('a', new Error('no'))]);
    for (const n of [1, 2, 3]) bench.controller.push(Note.event({ n }));
    await settle();
    await bench.clock.advance(60_000);
    assert.equal(eventKindsOf(bench).filter((id) => id === 'healing-resync').length, 1);
  });

  it('a value with external fields once; that the healing fails of it too ends no agent [R5.28]', async () => {
    const bench = makeController([
      handler('a', [], { resync: ({ txn }) => put(txn, 'x', { own: 1 }) }),
    ]);
    bench.sink.reply = () => ({ seqNum: 1, failures: [failure('x')] });
    bench.controller.push(dbResync({ x: { mtu: -1 } }));
    await settle();
    assert.deepEqual(await heals(bench), ['healing-resync']);
    await bench.clock.advance(600_000);
    assert.equal(eventKindsOf(bench).length, 2);
    assert.ok(bench.states.every(([state]) => state !== 'error'));
  });

  it('a healing that fails because of a value is repeated ever more slowly, and ends when it succeeds [R5.24]', async () => {
    const bench = await startedController([
      handler('a', [], { resync: ({ txn }) => put(txn, 'x', {}) }),
    ]);
    bench.sink.reply = () => ({ seqNum: 1, failures: [failure('x')] });
    const healings = () => eventKindsOf(bench).filter((id) => id === 'healing-resync').length;
    bench.controller.scheduleHealing('first');
    for (const [at, delay] of [5, 10, 20, 40, 80, 120, 120].entries()) {
      await bench.clock.advance(delay * 1_000 - 1);
      assert.equal(healings(), at);
      await bench.clock.advance(1);
      assert.equal(healings(), at + 1);
    }
    bench.sink.reply = () => ({ seqNum: 1, failures: [] });
    await bench.clock.advance(3_600_000);
    assert.equal(healings(), 8);
    assert.ok(bench.states.every(([state]) => state !== 'error'));
    bench.sink.reply = () => ({ seqNum: 1, failures: [failure('x')] });
    bench.controller.scheduleHealing('again');
    await bench.clock.advance(15_000);
    assert.equal(healings(), 10, 'the delay starts again');
  });
});

describe('options', () => {
  it('without retry no transaction is repeated [R5.17]', async () => {
    const bench = await startedController([], { config: { enableRetry: false } });
    assert.equal(bench.sink.requests[0]!.retry, undefined);
  });

  it('retry, healing and deadline take nanoseconds and text [R5.17] [R5.25]', async () => {
    const config = {
      delayRetry: '250ms',
      maxRetryAttempts: 7,
      enableExpBackoffRetry: false,
      delayAfterErrorHealing: 1_500_000_000,
    };
    const bench = await startedController([throwing('a', new Error('no'))], { config });
    assert.deepEqual(bench.sink.requests[0]!.retry, {
      periodMs: 250,
      maxAttempts: 7,
      exponential: false,
    });
    bench.controller.push(Note.event({ n: 1 }));
    await bench.clock.advance(1_499);
    assert.equal(eventKindsOf(bench).length, 2);
    await bench.clock.advance(1);
    assert.equal(eventKindsOf(bench).length, 3);
  });

  it('types of transactions follow the event [R5.18]', async () => {
    const bench = await startedController([
      handler('a', [], { update: ({ txn }) => put(txn, 'x', {}) }),
    ]);
    const change = { resource: 'pod', key: 'p', previous: undefined, current: {} };
    bench.controller.push(KubeStateChange.event(change));
    bench.controller.push(Undo.event({ n: 1 }));
    await bench.controller.pushAndWait(Ask.event({ n: 1 }));
    bench.controller.push(Recalculate.event({}));
    bench.controller.push(HealingResync.event({ type: 'after-error', error: '' }));
    bench.controller.push(HealingResync.event({ type: 'periodic' }));
    await settle();
    assert.deepEqual(
      bench.sink.requests.map(({ mode, onFailure }) => `${mode} ${onFailure}`),
      [
        'full-resync best-effort',
        'update best-effort',
        'update best-effort',
        'update revert',
        'upstream-resync best-effort',
        'full-resync best-effort',
        'downstream-resync best-effort',
      ],
    );
  });

  it('a Shutdown without an un-deploy leaves all as it is [R4.7]', async () => {
    const bench = await startedController([
      handler('a', [], {
        update: ({ event }) => {
          assert.ok(Shutdown.is(event) && !event.payload.cleanup);
        },
      }),
    ]);
    await bench.controller.close({ cleanup: false });
    assert.deepEqual(eventKindsOf(bench), ['database-resync', 'shutdown']);
    assert.equal(bench.sink.requests.length, 1);
    assert.equal(bench.clock.pending, 0);
  });
});
