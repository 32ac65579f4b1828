import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '#infra/clock/system.ts';
import {
  ClosedControllerError,
  EventLoopIsAbortingError,
  EventQueueFullError,
} from '#plugins/controller/api/errors.ts';
import type { NonBlockingEvent } from '#plugins/controller/api/event.ts';
import { ExternalConfigChange, HealingResync } from '#plugins/controller/api/events.ts';
import {
  emptyResync,
  eventKindsOf,
  handler,
  makeController,
  settle,
  startedController,
} from './controller-harness.ts';
import { Ask, Note, Recalculate } from './test-events.ts';

const numberOf = (event: { payload: unknown }) => (event.payload as { n: number }).n;

describe('pushes of many producers at once', () => {
  const PRODUCERS = 100;
  const EACH = 100;

  it('are accepted or refused at once; accepted ones run in order, exactly once [R4.3]', async () => {
    const ran: number[] = [];
    const bench = await startedController(
      [
        handler('a', [], {
          // Some are slow, so that the queue fills and empties in the meantime.
          update: async ({ event }) => {
            if (numberOf(event) % 64 === 0) await systemClock.turn();
            ran.push(numberOf(event));
          },
        }),
      ],
      { clock: systemClock },
    );
    /** Accepted events. */
    const pushed: number[] = [];
    let refused = 0;
    const answers: Promise<unknown>[] = [];
    const push = (n: number): void => {
      try {
        if (n % 10 === 0) {
          const answer = bench.controller.pushAndWait(Ask.event({ n }));
          answers.push(answer.catch((error: unknown) => error));
        } else bench.controller.push(Note.event({ n }));
        pushed.push(n);
      } catch (error) {
        assert.ok(error instanceof EventQueueFullError);
        refused++;
      }
    };
    const producer = async (at: number): Promise<void> => {
      for (let i = 0; i < EACH; i++) {
        push(at * EACH + i);
        if ((at + i) % 7 === 0) await systemClock.turn();
      }
    };
    await Promise.all(Array.from({ length: PRODUCERS }, (_, at) => producer(at)));
    while (!bench.controller.isIdle) await systemClock.turn();
    const failed = (await Promise.all(answers)).filter((answer) => answer instanceof Error);
    for (const error of failed) assert.ok(error instanceof EventQueueFullError);
    // A producer that waits is rejected by its promise.
    assert.equal(ran.length + refused + failed.length, PRODUCERS * EACH);
    assert.ok(refused + failed.length > 0, 'the queue was full at times');
    assert.equal(new Set(ran).size, ran.length, 'none ran twice');
    const took = new Set(ran);
    assert.deepEqual(
      ran,
      pushed.filter((n) => took.has(n)),
      'in the order of the pushes',
    );
    await bench.controller.close({ cleanup: false });
  });

  it('wait for nothing: a full queue refuses at once [R4.2]', () => {
    const bench = makeController([]);
    for (let n = 0; n < 1000; n++) bench.controller.push(Note.event({ n }));
    assert.throws(() => bench.controller.push(Note.event({ n: 0 })), EventQueueFullError);
    assert.equal(bench.controller.queueLength, 1000);
  });

  it('are accepted again as soon as one event is removed [R4.1]', async () => {
    let release: () => void = () => undefined;
    const busy = new Promise<void>((resolve) => {
      release = resolve;
    });
    const bench = await startedController([handler('a', [], { update: () => busy })]);
    for (let n = 0; n < 1000; n++) bench.controller.push(Note.event({ n }));
    await settle();
    bench.controller.push(Note.event({ n: 1000 }));
    assert.throws(() => bench.controller.push(Note.event({ n: 1001 })), EventQueueFullError);
    release();
    await settle();
  });
});

describe('follow-ups', () => {
  it('of follow-ups are not overtaken either, in any tree of them [R4.5]', async () => {
    // A tree as nested lists: every event sends its children as follow-ups.
    type Tree = readonly Tree[];
    const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constant<Tree>([]),
        fc.array(tie('tree'), { maxLength: 3 }),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(fc.array(tree, { minLength: 1, maxLength: 4 }), async (roots) => {
        const order: string[] = [];
        const grow = handler('grow', [], {
          update: ({ event, followUp }) => {
            if (!Note.is(event)) return;
            const { name, children } = event.payload as unknown as Growing;
            order.push(name);
            children.forEach((child, at) => {
              followUp(growing(`${name}.${at}`, child));
            });
          },
        });
        const bench = await startedController([grow]);
        roots.forEach((root, at) => {
          bench.controller.push(growing(String(at), root));
        });
        await settle();
        const ranks = order.map((name) => Number(name.split('.')[0]));
        assert.deepEqual(
          ranks,
          [...ranks].sort((a, b) => a - b),
          'no other root comes in between',
        );
        const count = (list: Tree): number => list.reduce((sum, one) => sum + 1 + count(one), 0);
        assert.equal(order.length, count(roots));
        await bench.controller.close({ cleanup: false });
      }),
      { numRuns: 60 },
    );
  });

  interface Growing {
    readonly name: string;
    readonly children: readonly never[];
  }
  const growing = (name: string, children: unknown) =>
    Note.event({ n: 0, name, children } as unknown as { n: number });

  it('know the event they follow, and that one has a number already [R4.4]', async () => {
    const bench = await startedController([
      handler('a', [], {
        update: ({ event, followUp }) => {
          if (numberOf(event) === 7) followUp(Note.event({ n: 8 }));
        },
      }),
    ]);
    bench.controller.push(Note.event({ n: 7 }));
    await settle();
    const [, cause, effect] = bench.controller.history.records;
    assert.equal(effect!.followUpTo, cause!.seqNum);
    assert.equal(cause!.followUpTo, undefined);
  });

  it('cannot be blocking: the loop would wait for itself [R4.4]', async () => {
    const bench = await startedController([
      handler('a', [], {
        update: ({ event, followUp }) => {
          if (Note.is(event)) followUp(Ask.event({ n: 1 }) as unknown as NonBlockingEvent);
        },
      }),
    ]);
    bench.controller.push(Note.event({ n: 1 }));
    await settle();
    assert.match(bench.controller.history.records[1]!.handlers[0]!.error!, /wait for itself/);
    assert.deepEqual(eventKindsOf(bench), ['database-resync', 'note']);
  });

  it('beyond the thousandth are refused, which is an error of their handler [R4.1]', async () => {
    let refused: unknown;
    const bench = await startedController([
      handler('a', [], {
        update: ({ event, followUp }) => {
          if (numberOf(event) !== 0) return;
          for (let n = 1; n <= 1000; n++) followUp(Note.event({ n }));
          try {
            followUp(Note.event({ n: 1001 }));
          } catch (error) {
            refused = error;
          }
        },
      }),
    ]);
    bench.controller.push(Note.event({ n: 0 }));
    await settle();
    assert.ok(refused instanceof EventQueueFullError);
    assert.equal(bench.controller.eventCount, 1002);
  });
});

describe('before the startup resync', () => {
  it('other resyncs wait as well, and everything keeps its order [R4.8]', async () => {
    const bench = makeController([]);
    bench.controller.push(HealingResync.event({ type: 'periodic' }));
    bench.controller.push(Recalculate.event({}));
    bench.controller.push(Note.event({ n: 1 }));
    bench.controller.push(ExternalConfigChange.event({ source: 'grpc', values: {} }));
    await settle();
    assert.deepEqual(eventKindsOf(bench), []);
    bench.controller.push(emptyResync);
    await settle();
    assert.deepEqual(eventKindsOf(bench), [
      'database-resync',
      'healing-resync',
      'recalculate',
      'note',
      'external-config-change',
    ]);
  });

  it('a queue full of delayed events still accepts it [R4.10]', async () => {
    const bench = makeController([]);
    for (let n = 0; n < 1000; n++) bench.controller.push(Note.event({ n }));
    bench.controller.push(emptyResync);
    await settle();
    assert.equal(bench.controller.eventCount, 1001);
    assert.deepEqual(bench.states.at(-1), ['ok', undefined]);
  });

  it('periodic healing has not begun [R4.9]', async () => {
    const bench = makeController([], {
      config: { enablePeriodicHealing: true, periodicHealingInterval: '1s' },
    });
    await bench.clock.advance(5_000);
    bench.controller.push(emptyResync);
    await settle();
    assert.deepEqual(eventKindsOf(bench), ['database-resync']);
    await bench.clock.advance(1_000);
    assert.deepEqual(eventKindsOf(bench), ['database-resync', 'healing-resync']);
  });

  it('the deadline refuses what was delayed, once and for all [R4.11]', async () => {
    const bench = makeController([], { config: { startupResyncDeadline: 2_000_000_000 } });
    const waiting = [1, 2].map((n) => bench.controller.pushAndWait(Ask.event({ n })));
    for (const one of waiting) one.catch(() => undefined);
    await bench.clock.advance(2_000);
    for (const one of waiting) await assert.rejects(one, EventLoopIsAbortingError);
    assert.throws(() => bench.controller.push(emptyResync), EventLoopIsAbortingError);
    assert.match(bench.states.at(-1)![1]!, /within the first 2 seconds/);
    await bench.clock.advance(60_000);
    assert.deepEqual(eventKindsOf(bench), []);
    await bench.controller.close({ cleanup: false });
  });

  it('the deadline means the first resync only [R4.11]', async () => {
    const bench = await startedController([]);
    await bench.clock.advance(120_000);
    assert.deepEqual(bench.states.at(-1), ['ok', undefined]);
  });

  it('a producer of many waits until fewer are queued, or until none is accepted any more', async () => {
    const bench = makeController([]);
    const told: string[] = [];
    const wait = (length: number, name: string) =>
      void bench.controller.whenShorterThan(length).then(() => told.push(name));
    for (let n = 0; n < 5; n++) bench.controller.push(Note.event({ n }));
    for (const length of [6, 3, 1]) wait(length, `${length}`);
    await systemClock.turn();
    assert.deepEqual(told, ['6'], 'none runs before the first resync');
    bench.controller.push(emptyResync);
    await bench.clock.advance(1);
    while (!bench.controller.isIdle) await systemClock.turn();
    assert.deepEqual(told, ['6', '3', '1']);
    await bench.controller.close({ cleanup: false });
    wait(0, 'closed');
    await systemClock.turn();
    assert.deepEqual(told.at(-1), 'closed');
  });

  it('the end does not wait for it [R4.12]', async () => {
    const bench = makeController([]);
    bench.controller.push(Note.event({ n: 1 }));
    await bench.controller.close({ cleanup: false });
    assert.deepEqual(eventKindsOf(bench), ['shutdown']);
    assert.throws(() => bench.controller.push(emptyResync), ClosedControllerError);
  });
});
