import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AbortEventError } from '#plugins/controller/api/errors.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import type { EventHandler } from '#plugins/controller/api/event-handler.ts';
import { HandlerState } from '#plugins/controller/api/handler-state.ts';
import { Table } from '#plugins/controller/api/table.ts';
import { emptyResync, handler, makeController, settle } from './controller-harness.ts';
import { Ask, Note, Recalculate } from './test-events.ts';

type Counts = Table<string, number>;

/** Counts the events by their kind, and its resyncs. */
function counter(onResync: () => void = () => undefined): EventHandler<Counts> {
  return {
    name: 'counter',
    state: new HandlerState('counter'),
    handlesEvent: () => true,
    resync: ({ journal }, previous) => {
      onResync();
      const counts: Counts = new Table(journal);
      return counts.set('resync', (previous?.get('resync') ?? 0) + 1);
    },
    update: ({ event: { kind } }, counts) => {
      counts.delete('resync');
      counts.set(kind.id, (counts.get(kind.id) ?? 0) + 1);
      counts.set('last', counts.get(kind.id)!);
    },
  };
}

const stateOf = ({ state }: EventHandler<Counts>) =>
  state?.known && Object.fromEntries(state.known);

describe('the state of a handler', () => {
  it('is created by a resync, and changed by updates [R5.32]', async () => {
    const one = counter();
    const { controller } = makeController([one]);
    assert.equal(stateOf(one), undefined);
    assert.throws(() => one.state!.current, /nothing is known before the first resync/);
    controller.push(emptyResync);
    await one.state!.established;
    await settle();
    controller.push(emptyResync);
    await settle();
    assert.deepEqual(stateOf(one), { resync: 2 });
    controller.push(Note.event({ n: 1 }));
    await settle();
    assert.deepEqual(stateOf(one), { note: 1, last: 1 });
  });

  it('is that of before when the resync is aborted, by this handler or by another one [R5.32]', async () => {
    let mine: Error | undefined;
    let others: Error | undefined;
    const fail = (error: Error | undefined): void => {
      if (error) throw error;
    };
    const one = counter(() => fail(mine));
    const { controller, sink } = makeController([
      one,
      handler('other', [], { resync: () => fail(others) }),
    ]);
    others = new Error('other');
    controller.push(emptyResync);
    await settle();
    assert.equal(stateOf(one), undefined);
    controller.push(Note.event({ n: 1 }));
    others = undefined;
    controller.push(emptyResync);
    await settle();
    assert.deepEqual(stateOf(one), { note: 1, last: 1 }, 'the update has waited for its state');
    const before = stateOf(one);
    const requests = sink.requests.length;
    mine = new Error('mine');
    controller.push(emptyResync);
    await settle();
    assert.deepEqual(stateOf(one), before);
    assert.equal(sink.requests.length, requests, 'nothing was committed');
  });

  it('is built of a new state of Kubernetes until a resync has succeeded [R5.32]', async () => {
    const seen: boolean[] = [];
    let isAborting = false;
    const { controller } = makeController([
      handler('first', [], {
        resync: () => {
          if (isAborting) throw new AbortEventError('no');
        },
      }),
      handler('second', [], { resync: ({ isStateNew }) => void seen.push(isStateNew) }),
    ]);
    const run = async (event: Event) => {
      controller.push(event);
      await settle();
    };
    await run(emptyResync);
    await run(Recalculate.event({}));
    assert.deepEqual(seen.splice(0), [true, false]);
    isAborting = true;
    await run(emptyResync);
    isAborting = false;
    await run(Recalculate.event({}));
    await run(Recalculate.event({}));
    assert.deepEqual(seen, [true, false]);
  });

  it('is rolled back when the event is reverted, and then the undo of the handler is called [R5.21]', async () => {
    const one = counter();
    const seen: unknown[] = [];
    const undoing = handler('undoing', [], {
      update: ({ onRevert }) => onRevert(() => void seen.push(stateOf(one))),
    });
    const failing = handler('failing', [], {
      update: ({ event }) => {
        if (Ask.is(event)) throw new Error('no');
      },
    });
    const { controller } = makeController([one, undoing, failing]);
    controller.push(emptyResync);
    controller.push(Note.event({ n: 1 }));
    await settle();
    await assert.rejects(controller.pushAndWait(Ask.event({ n: 2 })));
    assert.deepEqual(stateOf(one), { note: 1, last: 1 });
    assert.deepEqual(seen, [{ note: 1, last: 1 }]);
  });

  it('is announced after all handlers, unless one has aborted the resync [R5.33]', async () => {
    let isAborting = true;
    const heard: string[] = [];
    const { controller, sink } = makeController([
      handler('announcing', [], {
        resync: (ctx) => {
          ctx.onSuccess(async ({ callPort }) => {
            heard.push(await callPort('port', () => 'first'));
            throw new Error('not announced');
          });
          ctx.onSuccess(() => void heard.push('second'));
        },
      }),
      handler('aborting', [], {
        resync: () => {
          assert.deepEqual(heard, []);
          if (isAborting) throw new AbortEventError('no');
        },
      }),
    ]);
    controller.push(emptyResync);
    await settle();
    assert.deepEqual([heard, sink.requests.length], [[], 0]);
    isAborting = false;
    controller.push(emptyResync);
    await settle();
    assert.deepEqual(heard, ['first', 'second']);
    assert.equal(sink.requests.length, 1);
    assert.match(controller.problems(1).join(), /not announced/);
  });

  it('keeps what a failed best-effort event has changed', async () => {
    const one = counter();
    const failing = handler('failing', [], {
      update: () => {
        throw new Error('no');
      },
    });
    const { controller } = makeController([one, failing]);
    controller.push(emptyResync);
    controller.push(Note.event({ n: 1 }));
    await settle();
    assert.deepEqual(stateOf(one), { note: 1, last: 1 });
  });
});
