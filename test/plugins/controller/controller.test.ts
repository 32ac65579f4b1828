import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AbortEventError,
  ClosedControllerError,
  EventAbandonedError,
  EventLoopIsAbortingError,
  EventQueueFullError,
  FatalError,
} from '#plugins/controller/api/errors.ts';
import { ExternalConfigChange, HealingResync } from '#plugins/controller/api/events.ts';
import {
  emptyResync,
  handler,
  makeController,
  eventKindsOf as names,
  put,
  settle,
  startedController as started,
} from './controller-harness.ts';
import { Ask, Note, Recalculate, Undo } from './test-events.ts';

describe('order of events', () => {
  it('runs the startup resync first as number 0, then what waited [R4.8][R4.9]', async () => {
    const bench = makeController([handler('a', [])]);
    bench.controller.push(Note.event({ n: 1 }));
    bench.controller.push(Note.event({ n: 2 }));
    await settle();
    assert.deepEqual(names(bench), []);
    bench.controller.push(emptyResync);
    await settle();
    assert.deepEqual(names(bench), ['database-resync', 'note', 'note']);
    assert.equal(bench.controller.history.records[0]!.seqNum, 0);
    assert.deepEqual(
      bench.processed.slice(1).map(({ event }) => event.payload),
      [{ n: 1 }, { n: 2 }],
    );
  });

  it('lets follow-ups overtake all that is queued, in their order [R4.5]', async () => {
    const first = handler('a', [], {
      update: ({ event, followUp }) => {
        if (Note.is(event) && event.payload.n === 1) {
          followUp(Note.event({ n: 10 }));
          followUp(Note.event({ n: 11 }));
        }
      },
    });
    const bench = await started([first]);
    for (const n of [1, 2]) bench.controller.push(Note.event({ n }));
    await settle();
    const processed = bench.processed.slice(1);
    assert.deepEqual(
      processed.map(({ event, record }) => [(event.payload as { n: number }).n, record.followUpTo]),
      [
        [1, undefined],
        [10, 1],
        [11, 1],
        [2, undefined],
      ],
    );
  });

  it('calls handlers forward, reversed for reverse events, none for a downstream resync [R5.7][R5.8]', async () => {
    const trace: string[] = [];
    const bench = await started([
      handler('a', trace),
      handler('b', trace),
      handler('c', trace, { handlesEvent: (event) => !Undo.is(event) }),
    ]);
    trace.length = 0;
    bench.controller.push(Note.event({ n: 1 }));
    bench.controller.push(Undo.event({ n: 1 }));
    bench.controller.push(HealingResync.event({ type: 'periodic' }));
    await settle();
    assert.deepEqual(trace, ['a:update', 'b:update', 'c:update', 'b:update', 'a:update']);
    assert.equal(bench.sink.requests.at(-1)!.mode, 'downstream-resync');
  });

  it('calls a handler after the one that it follows for reverse events, too [R5.7]', async () => {
    const trace: string[] = [];
    const bench = await started([
      handler('a', trace),
      handler('b', trace),
      handler('c', trace, { follows: 'b' }),
      handler('d', trace, { follows: 'b' }),
      handler('e', trace),
    ]);
    trace.length = 0;
    bench.controller.push(Undo.event({ n: 1 }));
    await settle();
    assert.deepEqual(
      trace.map((call) => call[0]),
      ['e', 'b', 'd', 'c', 'a'],
    );
  });

  it('counts resyncs of all kinds from 1 [R4.13]', async () => {
    const counts: number[] = [];
    const bench = await started([
      handler('a', [], { resync: ({ resyncCount }) => void counts.push(resyncCount) }),
    ]);
    bench.controller.push(Note.event({ n: 1 }));
    bench.controller.push(Recalculate.event({}));
    await settle();
    assert.deepEqual(counts, [1, 2]);
  });
});

describe('queue', () => {
  it('refuses the 1001st event and takes as many follow-ups besides [R4.1]', async () => {
    const bench = makeController([]);
    for (let n = 0; n < 1000; n++) bench.controller.push(Note.event({ n }));
    assert.throws(() => bench.controller.push(Note.event({ n: 1000 })), EventQueueFullError);
    await assert.rejects(bench.controller.pushAndWait(Ask.event({ n: 0 })), EventQueueFullError);
  });

  it('does not run an event whose caller has disconnected', async () => {
    const trace: string[] = [];
    const bench = makeController([handler('a', trace)]);
    const caller = new AbortController();
    const answer = bench.controller.pushAndWait(Ask.event({ n: 1 }), caller.signal);
    caller.abort();
    bench.controller.push(emptyResync);
    await assert.rejects(answer, EventAbandonedError);
    await settle();
    assert.deepEqual(trace, ['a:resync']);
    const late = bench.controller.pushAndWait(Ask.event({ n: 2 }), caller.signal);
    await assert.rejects(late, EventAbandonedError);
  });

  it('has no event of a caller that disconnects before the first resync', {
    timeout: 10_000,
  }, async () => {
    const bench = makeController([handler('a', [])]);
    for (let n = 0; n < 2000; n++) {
      const caller = new AbortController();
      const answer = bench.controller.pushAndWait(Ask.event({ n }), caller.signal);
      caller.abort();
      await assert.rejects(answer, EventAbandonedError);
    }
  });

  it('closes before the first resync too, and refuses events afterwards [R4.2][R4.7][R4.12]', async () => {
    const bench = makeController([handler('a', [])]);
    const waiting = bench.controller.pushAndWait(Ask.event({ n: 1 }));
    waiting.catch(() => undefined);
    await bench.controller.close({ cleanup: false });
    await assert.rejects(waiting, ClosedControllerError);
    assert.throws(() => bench.controller.push(emptyResync), ClosedControllerError);
    assert.equal(bench.clock.pending, 0);
  });
});

describe('un-deploy', () => {
  it('removes all managed values, also before the first resync', async () => {
    const bench = makeController([handler('a', [], { update: ({ txn }) => put(txn, 'x', {}) })]);
    await bench.controller.close({ cleanup: true });
    assert.equal(bench.sink.requests.length, 1);
    assert.equal(bench.sink.requests[0]!.mode, 'full-resync');
    assert.equal(bench.sink.requests[0]!.values.size, 0);
  });

  it('returns the values that could not be removed', async () => {
    const bench = makeController([]);
    const failure = { key: 'x', operation: 'DELETE' as const, error: new Error('busy') };
    bench.sink.reply = () => ({ seqNum: 0, failures: [failure] });
    await assert.rejects(bench.controller.close({ cleanup: true }), /x \(DELETE\): busy/);
  });
});

describe('transactions', () => {
  it('collects one per event; later handlers see and change what earlier ones put [R5.11][R5.16][R5.17]', async () => {
    const a = handler('a', [], {
      update: ({ txn }) => {
        put(txn, 'x', { v: 1 });
        put(txn, 'y', { v: 1 });
        return { change: 'x and y' };
      },
    });
    const b = handler('b', [], {
      update: ({ txn }) => {
        assert.deepEqual(txn.get('x'), { v: 1 });
        put(txn, 'x', { v: 2 });
        return { change: 'x again' };
      },
    });
    const bench = await started([a, b]);
    bench.controller.push(Note.event({ n: 1 }));
    await settle();
    const request = bench.sink.requests.at(-1)!;
    assert.equal(request.description, 'Note\n* a: x and y\n* b: x again');
    assert.deepEqual(
      [...request.values],
      [
        ['x', { v: 2 }],
        ['y', { v: 1 }],
      ],
    );
    assert.equal(request.mode, 'update');
    assert.deepEqual(request.retry, { periodMs: 1000, maxAttempts: 3, exponential: true });
  });

  it('commits nothing for an update without changes, but always for a resync [R5.15]', async () => {
    const bench = await started([handler('a', [])]);
    bench.controller.push(Note.event({ n: 1 }));
    await settle();
    assert.equal(bench.sink.requests.length, 1);
    assert.equal(bench.sink.requests[0]!.mode, 'full-resync');
  });

  it('answers the producer with the replies in handler order', async () => {
    const reply = (text: string) => handler(text, [], { update: () => ({ reply: text }) });
    const bench = await started([reply('a'), handler('n', []), reply('b')]);
    assert.deepEqual(await bench.controller.pushAndWait(Ask.event({ n: 1 })), ['a', 'b']);
  });

  it('shows the values of now, with what the current update has changed [R6.11]', async () => {
    const seen: unknown[] = [];
    const a = handler('a', [], {
      update: ({ txn, event }) => put(txn, 'x', event.payload as object),
    });
    const bench = makeController([
      a,
      handler('b', [], { update: () => void seen.push(bench.desired.value('x')) }),
    ]);
    bench.controller.push(emptyResync);
    bench.controller.push(Note.event({ n: 1 }));
    await settle();
    assert.deepEqual(seen, [{ n: 1 }]);
    assert.deepEqual(bench.desired.value('x'), { n: 1 });
  });
});

describe('failures', () => {
  const failing = (error: unknown, trace: string[] = []) =>
    handler('bad', trace, {
      update: () => {
        throw error;
      },
    });

  it('reverts in the reverse order of what was done, not the one that failed [R5.12][R5.21]', async () => {
    const trace: string[] = [];
    const bench = await started([
      handler('a', trace),
      handler('b', trace),
      failing(new Error('no'), trace),
      handler('d', trace),
    ]);
    trace.length = 0;
    await assert.rejects(bench.controller.pushAndWait(Ask.event({ n: 1 })), /^Error: no$/);
    assert.deepEqual(trace, ['a:update', 'b:update', 'bad:update', 'b:revert', 'a:revert']);
    assert.equal(bench.sink.requests.length, 1, 'nothing was committed');
    await bench.clock.advance(10_000);
    assert.deepEqual(names(bench), ['database-resync', 'ask'], 'a clean revert needs no healing');
  });

  it('reverts all handlers when the transaction failed, and keeps the old internal values [R5.18][R5.20][R5.21]', async () => {
    const trace: string[] = [];
    const bench = await started([
      handler('a', trace, { update: ({ txn }) => put(txn, 'x', { v: 1 }) }),
      handler('b', trace),
    ]);
    trace.length = 0;
    bench.sink.reply = () => ({
      seqNum: 7,
      failures: [{ key: 'x', operation: 'CREATE', error: new Error('VPP said -1') }],
    });
    await assert.rejects(
      bench.controller.pushAndWait(Ask.event({ n: 1 })),
      /KeyErrors: \[x \(CREATE\): VPP said -1\]/,
    );
    assert.deepEqual(trace, ['a:update', 'b:update', 'b:revert', 'a:revert']);
    assert.equal(bench.sink.requests.at(-1)!.onFailure, 'revert');
    assert.equal(bench.desired.value('x'), undefined);
  });

  it('heals after a failed best-effort event, once for several [R5.25][R5.27]', async () => {
    const bench = await started([failing(new Error('no'))]);
    bench.controller.push(Note.event({ n: 1 }));
    bench.controller.push(Note.event({ n: 2 }));
    await settle();
    await bench.clock.advance(4_999);
    assert.deepEqual(names(bench), ['database-resync', 'note', 'note']);
    await bench.clock.advance(1);
    assert.deepEqual(names(bench).slice(3), ['healing-resync']);
    assert.match(bench.controller.history.records.at(-1)!.description, /After error: no/);
    await bench.clock.advance(60_000);
    assert.equal(names(bench).length, 4);
  });

  it('calls the other handlers of a best-effort event [R5.12]', async () => {
    const trace: string[] = [];
    const bench = await started([failing(new Error('no'), trace), handler('b', trace)]);
    trace.length = 0;
    bench.controller.push(Note.event({ n: 1 }));
    await settle();
    assert.deepEqual(trace, ['bad:update', 'b:update']);
  });

  it('does not heal after BestEffortIgnoreErrors [R5.30]', async () => {
    const bench = await started([failing(new Error('no'))]);
    bench.controller.push(Undo.event({ n: 1 }));
    await settle();
    await bench.clock.advance(60_000);
    assert.deepEqual(names(bench), ['database-resync', 'undo']);
  });

  it('stops at an abort and heals, whatever the type of the event [R5.13]', async () => {
    const trace: string[] = [];
    const bench = await started([failing(new AbortEventError('stop'), trace), handler('b', trace)]);
    trace.length = 0;
    bench.controller.push(Undo.event({ n: 1 }));
    await settle();
    assert.deepEqual(trace, ['b:update', 'bad:update']);
    bench.controller.push(Note.event({ n: 1 }));
    await settle();
    assert.deepEqual(trace.slice(2), ['bad:update']);
    await bench.clock.advance(5_000);
    assert.equal(names(bench).at(-1), 'healing-resync');
  });

  it('heals after a failed resync, and is lost when the healing fails as well [R5.24][R5.29]', async () => {
    const bench = makeController([
      handler('a', [], {
        resync: () => {
          throw new Error('broken');
        },
      }),
    ]);
    bench.controller.push(emptyResync);
    await settle();
    assert.deepEqual(bench.states, [['init', undefined]]);
    await bench.clock.advance(5_000);
    assert.match(
      bench.states.at(-1)![1]!,
      /healing has not been successful .*prev error: .*broken/,
    );
    assert.equal(bench.states.at(-1)![0], 'error');
    assert.throws(() => bench.controller.push(Note.event({ n: 1 })), EventLoopIsAbortingError);
  });

  it('after a fatal error refuses what waits and all that comes [R4.6]', async () => {
    const bench = await started([failing(new FatalError('dead'))]);
    bench.controller.push(Note.event({ n: 1 }));
    const waiting = bench.controller.pushAndWait(Ask.event({ n: 2 }));
    await assert.rejects(waiting, EventLoopIsAbortingError);
    assert.deepEqual(bench.states.at(-1), ['error', 'dead']);
    await assert.rejects(
      bench.controller.pushAndWait(Ask.event({ n: 3 })),
      EventLoopIsAbortingError,
    );
    await bench.controller.close({ cleanup: false });
  });

  it('names a handler that throws something that is no error', async () => {
    const bench = await started([failing('odd')]);
    await assert.rejects(bench.controller.pushAndWait(Ask.event({ n: 1 })), /bad threw string odd/);
  });

  it('does not heal keys that only an external source sets, nor while VPP is disconnected [R5.28]', async () => {
    const bench = await started([handler('a', [])]);
    bench.sink.reply = ({ values }) => ({
      seqNum: 1,
      failures: [...values.keys()].map((key) => ({
        key,
        operation: 'CREATE' as const,
        error: new Error('no'),
      })),
    });
    bench.controller.push(ExternalConfigChange.event({ source: 'db', values: { x: { v: 1 } } }));
    await settle();
    await bench.clock.advance(60_000);
    assert.deepEqual(names(bench), ['database-resync', 'external-config-change']);
  });

  it('is lost when the startup resync does not come in time [R4.11]', async () => {
    const bench = makeController([]);
    const waiting = bench.controller.pushAndWait(Ask.event({ n: 1 }));
    waiting.catch(() => undefined);
    await bench.clock.advance(30_000);
    await assert.rejects(waiting, EventLoopIsAbortingError);
    assert.match(bench.states.at(-1)![1]!, /within the first 30 seconds/);
  });

  it('ends as fatal when a handler hangs, and its late write is refused', async () => {
    let late: Promise<string> | undefined;
    let release: () => void = () => undefined;
    const bench = await started([
      handler('hung', [], {
        update: ({ txn }) => {
          late = new Promise<void>((resolve) => {
            release = resolve;
          }).then(() => {
            try {
              put(txn, 'x', {});
              return 'written';
            } catch {
              return 'refused';
            }
          });
          return late.then(() => undefined);
        },
      }),
    ]);
    const answer = bench.controller.pushAndWait(Ask.event({ n: 1 }));
    answer.catch(() => undefined);
    await settle();
    await bench.clock.advance(60_000);
    await assert.rejects(answer, /hung: handler hangs for 60000 ms/);
    assert.equal(bench.states.at(-1)![0], 'error');
    release();
    assert.equal(await late, 'refused');
  });
});

describe('periodic healing', () => {
  it('runs in its interval after the startup resync', async () => {
    const bench = await started([handler('a', [])], { config: { enablePeriodicHealing: true } });
    await bench.clock.advance(60_000);
    assert.deepEqual(names(bench), ['database-resync', 'healing-resync', 'healing-resync']);
  });
});
