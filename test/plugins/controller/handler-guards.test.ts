/** Limits of handlers: they cannot wait for the event loop, nor change data that they share with others. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  EventLoopDeadlockError,
  FatalError,
  HandlesEventError,
} from '#plugins/controller/api/errors.ts';
import { EventMethod } from '#plugins/controller/api/event.ts';
import type { UpdateContext } from '#plugins/controller/api/event-handler.ts';
import { DbResync, HealingResync, KubeStateChange } from '#plugins/controller/api/events.ts';
import {
  type ControllerHarness,
  eventKindsOf,
  handler,
  makeController,
  put,
  settle,
  startedController,
} from './controller-harness.ts';
import { Ask, Note, Undo } from './test-events.ts';

describe('a handler that waits for another event', () => {
  const isDeadlock = { name: 'EventLoopDeadlockError', code: 'CV_LOOP_DEADLOCK' };

  it('gets an error at once, also behind awaits, and the loop continues', async () => {
    let bench: ControllerHarness | undefined;
    const ask = () => bench!.controller.pushAndWait(Ask.event({ n: 1 }));
    const seen: unknown[] = [];
    const a = handler('a', [], {
      handlesEvent: (event) => !Ask.is(event),
      update: async () => {
        assert.throws(() => void ask(), isDeadlock);
        await new Promise((resolve) => setImmediate(resolve));
        assert.throws(() => void bench!.controller.close({ cleanup: false }), isDeadlock);
        await ask();
      },
    });
    bench = await startedController([a], { onProcessed: ({ error }) => seen.push(error) });
    bench.controller.push(Note.event({ n: 1 }));
    await settle();
    assert.ok(seen.at(-1) instanceof EventLoopDeadlockError);
    assert.match(String(seen.at(-1)), /^\w+: Ask: a handler cannot wait for another event$/);
    assert.equal(bench.states.at(-1)?.[0], 'ok');
    await ask();
    assert.equal(eventKindsOf(bench).at(-1), 'ask');
  });

  it('is no producer outside, and nothing that a handler left behind', async () => {
    let bench: ControllerHarness | undefined;
    const ask = () => bench!.controller.pushAndWait(Ask.event({ n: 1 }));
    let left: Promise<unknown> = Promise.resolve();
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const a = handler('a', [], {
      update: ({ event }) => {
        if (Note.is(event)) left = released.then(ask);
      },
    });
    bench = await startedController([a]);
    bench.controller.push(Note.event({ n: 1 }));
    const outside = ask();
    await outside;
    release();
    await left;
    assert.deepEqual(eventKindsOf(bench).slice(1), ['note', 'ask', 'ask']);
  });

  it('is a source of external configuration, too, while it is read', async () => {
    let bench: ControllerHarness | undefined;
    const errors: unknown[] = [];
    const source = {
      label: 'other',
      snapshot: async () => {
        try {
          await bench!.controller.pushAndWait(Ask.event({ n: 1 }));
        } catch (error) {
          errors.push(error);
        }
        return {};
      },
    };
    bench = makeController([handler('a', [])], { externalSources: [source] });
    bench.controller.push(DbResync.event({ local: false, kubeState: {}, externalConfig: {} }));
    await settle();
    assert.ok(errors[0] instanceof EventLoopDeadlockError);
    assert.equal(bench.states.at(-1)?.[0], 'ok');
  });
});

describe('data that handlers share', () => {
  const change = (data: unknown, name: string) => {
    (data as Record<string, unknown>)[name] = 'changed';
  };

  it('of Kubernetes cannot be changed, neither the maps nor the values, and is not copied', async () => {
    const pod = { name: 'web', ports: [{ port: 80 }] };
    let checks = 0;
    const check = ({
      kubeState,
    }: {
      kubeState: ReadonlyMap<string, ReadonlyMap<string, object>>;
    }) => {
      const pods = kubeState.get('pod')!;
      for (const map of [kubeState, pods] as unknown as Map<string, unknown>[]) {
        assert.equal(map instanceof Map, false);
        assert.throws(() => map.clear(), TypeError);
        assert.throws(() => map.set('x', {}), TypeError);
        assert.throws(() => map.delete('web'), TypeError);
        assert.throws(() => change(map, 'get'), TypeError);
        map.forEach((_value, _key, self) => void assert.equal(self, map));
      }
      const value = pods.get('web') as typeof pod;
      assert.equal(value, pod);
      assert.throws(() => change(value, 'name'), TypeError);
      assert.throws(() => value.ports.push({ port: 1 }), TypeError);
      assert.throws(() => change(value.ports[0], 'port'), TypeError);
      assert.deepEqual([...pods.keys(), pods.size, kubeState.size], ['web', 1, 1]);
      checks++;
    };
    const bench = makeController([handler('a', [], { resync: check, update: check })]);
    const kubeState = { pod: { web: pod } };
    bench.controller.push(DbResync.event({ local: false, kubeState, externalConfig: {} }));
    bench.controller.push(Note.event({ n: 1 }));
    bench.controller.push(HealingResync.event({ type: 'after-error', error: 'x' }));
    await settle();
    assert.deepEqual(
      bench.processed.map(({ error }) => error),
      [undefined, undefined, undefined],
    );
    assert.equal(checks, 3);
    assert.equal(bench.states.at(-1)?.[0], 'ok');
  });

  it('of an event, of earlier handlers and of the transaction cannot be changed', async () => {
    const value = { list: [1] };
    const reply = { addresses: ['10.1.1.2'] };
    let checks = 0;
    const bench = await startedController([
      handler('a', [], {
        update: ({ event, txn }) => {
          if (KubeStateChange.is(event)) {
            assert.throws(() => change(event.payload, 'key'), TypeError);
            assert.throws(() => change(event.payload.current, 'name'), TypeError);
          }
          put(txn, 'x', value);
          checks++;
          return { reply };
        },
      }),
      handler('b', [], {
        update: ({ txn, replies }) => {
          assert.throws(() => (txn.get('x') as typeof value).list.push(2), TypeError);
          assert.throws(() => (replies as unknown[]).pop(), TypeError);
          assert.throws(() => (replies[0] as typeof reply).addresses.pop(), TypeError);
          checks++;
        },
      }),
    ]);
    const current = { name: 'web' };
    const payload = { resource: 'pod', key: 'web', previous: undefined, current };
    bench.controller.push(KubeStateChange.event(payload));
    await settle();
    assert.equal(checks, 2);
    assert.deepEqual(await bench.controller.pushAndWait(Ask.event({ n: 1 })), [reply]);
    assert.equal(bench.processed.at(-1)?.error, undefined);
  });
});

describe('a handlesEvent that throws', () => {
  const refusing = (thrown: unknown, trace: string[]) =>
    handler('a', trace, {
      handlesEvent: (event) => {
        if (event.kind.method(event.payload) === EventMethod.Update) throw thrown;
        return true;
      },
    });

  it('is an error of its handler: in box and record, and healed', async () => {
    const trace: string[] = [];
    const bench = await startedController([
      refusing(new Error('a mistake'), trace),
      handler('b', trace),
    ]);
    bench.controller.push(Note.event({ n: 1 }));
    await settle();
    const { error, record } = bench.processed.at(-1)!;
    assert.ok(error instanceof HandlesEventError);
    assert.deepEqual(
      record.handlers.map((one) => [one.handler, one.error]),
      [
        ['a', 'a: handlesEvent failed: a mistake'],
        ['b', undefined],
      ],
    );
    assert.match(bench.printed.at(-2)!, /EVENT HANDLERS: a, b /);
    assert.match(bench.printed.at(-1)!, /\* a: a: handlesEvent failed: a mistake /);
    assert.deepEqual(trace, ['a:resync', 'b:resync', 'b:update']);
    await bench.clock.advance(10_000);
    await settle();
    assert.equal(eventKindsOf(bench).at(-1), 'healing-resync');
    assert.equal(bench.states.at(-1)?.[0], 'ok');
  });

  it('aborts a resync, which would remove the values of the handler', async () => {
    let isBroken = false;
    const a = handler('a', [], {
      handlesEvent: () => {
        if (isBroken) throw new Error('a mistake');
        return true;
      },
      resync: ({ txn }) => txn.replace('g', [{ key: 'k', value: { n: 1 } }]),
    });
    const bench = await startedController([a]);
    const committed = bench.sink.requests.length;
    isBroken = true;
    bench.controller.push(HealingResync.event({ type: 'after-error', error: 'test' }));
    await settle();
    assert.equal(bench.sink.requests.length, committed);
    assert.match(String(bench.processed.at(-1)!.error), /handlesEvent failed: a mistake/);
  });

  it('reverts an all-or-nothing event, without a call of its own revert', async () => {
    const trace: string[] = [];
    const bench = await startedController([
      handler('b', trace),
      refusing(new Error('a mistake'), trace),
    ]);
    await assert.rejects(bench.controller.pushAndWait(Ask.event({ n: 1 })), HandlesEventError);
    assert.deepEqual(trace.slice(2), ['b:update', 'b:revert']);
    bench.controller.push(Undo.event({ n: 1 }));
    await settle();
    assert.equal(bench.controller.history.records.length, 3);
  });

  it('stops the loop if the error is fatal, with box and record', async () => {
    const bench = await startedController([refusing(new FatalError('no disk'), [])]);
    bench.controller.push(Note.event({ n: 1 }));
    await settle();
    assert.deepEqual(bench.states.at(-1), ['error', 'no disk']);
    assert.equal(bench.controller.history.records.length, 2);
    assert.match(bench.printed.at(-1)!, /no disk/);
  });
});

describe('work that a handler leaves before it returns', () => {
  const leaving = (trace: string[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const ask = async ({ beforeCommit, callPort }: UpdateContext) => {
      beforeCommit(callPort('disk/write', () => promise));
    };
    return {
      handlers: [handler('a', trace, { update: ask }), handler('b', trace)],
      resolve,
      reject,
    };
  };

  it('ends before the transaction, and not before the next handlers', async () => {
    const trace: string[] = [];
    const { handlers, resolve } = leaving(trace);
    const putting = handler('c', trace, { update: ({ txn }) => put(txn, 'x', {}) });
    const bench = await startedController([...handlers, putting]);
    const answered = bench.controller.pushAndWait(Ask.event({ n: 1 }));
    await settle();
    assert.deepEqual(trace.slice(3), ['a:update', 'b:update', 'c:update']);
    assert.equal(bench.sink.requests.length, 1);
    resolve();
    await answered;
    assert.equal(bench.sink.requests.length, 2);
  });

  it('reverts its handler, too, if it fails', async () => {
    const trace: string[] = [];
    const { handlers, reject } = leaving(trace);
    const bench = await startedController(handlers);
    const answered = bench.controller.pushAndWait(Ask.event({ n: 1 }));
    await settle();
    reject(new Error('no space'));
    await assert.rejects(answered, { message: 'no space' });
    assert.deepEqual(trace.slice(2), ['a:update', 'b:update', 'b:revert', 'a:revert']);
    assert.equal(bench.sink.requests.length, 1);
    const { handlers: records } = bench.processed.at(-1)!.record;
    assert.deepEqual(
      records.map((one) => [one.handler, one.error]),
      [
        ['a', 'no space'],
        ['b', undefined],
        ['b', undefined],
        ['a', undefined],
      ],
    );
  });

  it('ends before the revert, if a later handler fails', async () => {
    const trace: string[] = [];
    const { handlers, resolve } = leaving(trace);
    const failing = handler('c', trace, {
      update: () => {
        throw new Error('no address');
      },
    });
    const bench = await startedController([...handlers, failing]);
    const answered = bench.controller.pushAndWait(Ask.event({ n: 1 }));
    await settle();
    assert.ok(!trace.includes('b:revert'));
    resolve();
    await assert.rejects(answered, { message: 'no address' });
    assert.deepEqual(trace.slice(6), ['b:revert', 'a:revert']);
  });

  it('fails the event fatally if it hangs', async () => {
    const { handlers } = leaving([]);
    const bench = await startedController(handlers);
    const answered = bench.controller.pushAndWait(Ask.event({ n: 1 }));
    answered.catch(() => undefined);
    await settle();
    for (let minute = 0; minute < 60; minute += 5) await bench.clock.advance(5_000);
    await assert.rejects(answered, FatalError);
    assert.equal(bench.states.at(-1)?.[0], 'error');
  });
});
