import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { mergeValues } from '#models/merge.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import {
  DbResync,
  ExternalConfigChange,
  ExternalConfigResync,
  type ExternalConfigSource,
  HealingResync,
  KubeStateChange,
} from '#plugins/controller/api/events.ts';
import {
  emptyResync,
  handler,
  makeController,
  put,
  remove,
  settle,
  startedController,
} from './controller-harness.ts';
import { Ask, Note, Recalculate } from './test-events.ts';

describe('caches', () => {
  it('shows handlers the state after the event [R5.4][R6.1]', async () => {
    const seen: unknown[] = [];
    const bench = makeController([
      handler('a', [], {
        resync: ({ kubeState }) => void seen.push([...(kubeState.get('pod') ?? [])]),
        update: ({ kubeState }) => void seen.push([...(kubeState.get('pod') ?? [])]),
      }),
    ]);
    bench.controller.push(
      DbResync.event({ local: false, kubeState: { pod: { p: { v: 1 } } }, externalConfig: {} }),
    );
    const change = { resource: 'pod', key: 'p', previous: { v: 1 } };
    bench.controller.push(KubeStateChange.event({ ...change, current: { v: 2 } }));
    bench.controller.push(KubeStateChange.event({ ...change, current: undefined }));
    await settle();
    assert.deepEqual(seen, [[['p', { v: 1 }]], [['p', { v: 2 }]], []]);
  });

  it('merges external values: last source wins, deletes restore, internal deletes keep [R5.2][R5.5][R6.2][R6.3][R6.4][R6.5][R6.6][R6.7]', async () => {
    const a = handler('a', [], {
      resync: ({ txn }) => put(txn, 'x', { v: 1, own: true }),
      update: ({ txn, event }) => {
        if (Note.is(event)) remove(txn, 'x');
      },
    });
    const bench = makeController([a], {
      externalSources: [{ label: 'grpc', snapshot: async () => ({ x: { v: 3 }, z: { v: 9 } }) }],
    });
    bench.controller.push(
      DbResync.event({ local: false, kubeState: {}, externalConfig: { x: { v: 2 }, y: { v: 5 } } }),
    );
    await settle();
    assert.deepEqual(
      [...bench.sink.requests[0]!.values],
      [
        ['x', { v: 3, own: true }],
        ['y', { v: 5 }],
        ['z', { v: 9 }],
      ],
    );
    bench.controller.push(ExternalConfigChange.event({ source: 'grpc', values: { x: null } }));
    await settle();
    assert.deepEqual([...bench.sink.requests[1]!.values], [['x', { v: 2, own: true }]]);
    bench.controller.push(Note.event({ n: 1 }));
    await settle();
    assert.deepEqual([...bench.sink.requests[2]!.values], [['x', { v: 2 }]]);
    bench.controller.push(ExternalConfigChange.event({ source: 'new', values: { q: { v: 1 } } }));
    bench.controller.push(ExternalConfigResync.event({ source: 'new', values: {} }));
    await settle();
    assert.deepEqual([...bench.sink.requests[3]!.values], [['q', { v: 1 }]]);
    assert.deepEqual([...bench.sink.requests[4]!.values.keys()], ['x', 'y', 'z']);
  });
});

const source = (label: string, values: Record<string, Value>): ExternalConfigSource => ({
  label,
  snapshot: async () => values,
});

/** The handlers' part of a key, and a resync that carries the part of the datastore. */
const own = (values: Record<string, Value>) =>
  handler('own', [], {
    resync: ({ txn }) => {
      for (const [key, value] of Object.entries(values)) put(txn, key, value);
    },
    update: ({ txn, event }) => {
      if (!Note.is(event)) return;
      for (const [key, value] of Object.entries(values)) put(txn, key, value);
    },
  });
const dbResync = (externalConfig: Record<string, Value>) =>
  DbResync.event({ local: false, kubeState: {}, externalConfig });
const lastValues = (bench: ReturnType<typeof makeController>) =>
  Object.fromEntries(bench.sink.requests.at(-1)!.values);

describe('sources of external configuration', () => {
  it('are laid over each other in the order of their list, the same in updates as in resyncs [R6.5]', async () => {
    const bench = makeController([own({ x: { own: 1, by: 'own' } })], {
      externalSources: [
        source('first', { x: { by: 'first' } }),
        source('second', { x: { by: 'second' } }),
      ],
    });
    const wanted = { x: { own: 1, by: 'second' } };
    bench.controller.push(dbResync({ x: { by: 'db' } }));
    await settle();
    assert.deepEqual(lastValues(bench), wanted, 'database resync');
    bench.controller.push(Recalculate.event({}));
    await settle();
    assert.deepEqual(lastValues(bench), wanted, 'upstream resync');
    bench.controller.push(Note.event({ n: 1 }));
    await settle();
    assert.deepEqual(lastValues(bench), wanted, 'update of the handlers');
    // A change of a source with lower precedence changes nothing.
    bench.controller.push(
      ExternalConfigChange.event({ source: 'db', values: { x: { by: 'db2' } } }),
    );
    await settle();
    assert.deepEqual(lastValues(bench), wanted, 'change outside');
    bench.controller.push(ExternalConfigChange.event({ source: 'second', values: { x: null } }));
    await settle();
    assert.deepEqual(lastValues(bench), { x: { own: 1, by: 'first' } });
  });

  it('are owners of a value beside the handlers, in the order in which they are merged', async () => {
    const { controller } = makeController([own({ x: { own: 1 } })], {
      externalSources: [source('grpc', { x: { v: 1 }, y: { v: 1 } })],
    });
    controller.push(dbResync({ x: { by: 'db' } }));
    await settle();
    assert.deepEqual(controller.ownersOf('x'), ['own/x', 'external/db', 'external/grpc']);
    assert.deepEqual(controller.ownersOf('y'), ['external/grpc']);
    assert.deepEqual(controller.ownersOf('z'), []);
  });

  it('are asked with every Database Resync, and keep what they wanted when they cannot answer [R5.1]', async () => {
    let answer: () => Promise<Record<string, Value>> = async () => ({ z: { v: 1 } });
    const bench = makeController([], {
      externalSources: [{ label: 'grpc', snapshot: () => answer() }],
    });
    const resync = async () => {
      bench.controller.push(dbResync({}));
      await settle();
      return lastValues(bench);
    };
    assert.deepEqual(await resync(), { z: { v: 1 } });
    answer = () => Promise.reject(new Error('away'));
    assert.deepEqual(await resync(), { z: { v: 1 } });
    answer = async () => undefined as never;
    assert.deepEqual(await resync(), { z: { v: 1 } }, 'what is no snapshot is none');
    answer = () => {
      throw new Error('at once');
    };
    assert.deepEqual(await resync(), { z: { v: 1 } });
    answer = async () => ({});
    assert.deepEqual(await resync(), {});
    assert.deepEqual(bench.states.at(-1), ['ok', undefined]);
  });

  it('that hang delay the event only up to the time limit [R5.1]', async () => {
    const errors: unknown[] = [];
    const bench = makeController([], {
      externalSources: [{ label: 'grpc', snapshot: () => new Promise(() => undefined) }],
      log: { ...silentLogger, error: (fields: unknown) => void errors.push(fields) },
    });
    bench.controller.push(dbResync({ y: { v: 1 } }));
    await bench.clock.advance(60_000);
    assert.deepEqual(lastValues(bench), { y: { v: 1 } });
    assert.equal((errors[0] as { source: string }).source, 'grpc');
    assert.deepEqual(bench.states.at(-1), ['ok', undefined]);
  });

  it('replace what the datastore and they themselves wanted before [R5.1] [R5.2]', async () => {
    const bench = makeController([own({ x: { own: 1 } })]);
    bench.controller.push(dbResync({ a: { v: 1 }, b: { v: 1 } }));
    bench.controller.push(dbResync({ b: { v: 2 } }));
    await settle();
    assert.deepEqual(lastValues(bench), { x: { own: 1 }, b: { v: 2 } });
    const resync = (values: Record<string, Value>) =>
      ExternalConfigResync.event({ source: 'grpc', values });
    bench.controller.push(resync({ c: { v: 1 }, b: { v: 3 } }));
    await settle();
    assert.deepEqual(lastValues(bench), { x: { own: 1 }, b: { v: 3 }, c: { v: 1 } });
    bench.controller.push(resync({ d: { v: 1 } }));
    await settle();
    assert.deepEqual(lastValues(bench), { x: { own: 1 }, b: { v: 2 }, d: { v: 1 } });
  });

  it('may wait for the end of what they push, or not', async () => {
    const bench = await startedController([]);
    const change = (n: number) =>
      ExternalConfigChange.event({ source: 'grpc', values: { x: { n } } });
    bench.controller.push(change(1));
    assert.deepEqual(await bench.controller.pushAndWait(change(2)), []);
    bench.sink.reply = () => Promise.reject(new Error('refused'));
    await assert.rejects(bench.controller.pushAndWait(change(3)), /refused/);
    await assert.rejects(
      bench.controller.pushAndWait(ExternalConfigResync.event({ source: 'grpc', values: {} })),
      /refused/,
    );
  });
});

describe('a change outside', () => {
  it('is merged with the current value of the handlers, else with their last one, else used alone [R6.2] [R6.3] [R6.4]', async () => {
    const now = handler('now', [], {
      update: ({ txn, event }) => {
        if (ExternalConfigChange.is(event)) put(txn, 'n', { now: 1 });
      },
    });
    const bench = makeController([own({ l: { last: 1 } }), now]);
    bench.controller.push(emptyResync);
    const values = { n: { e: 1 }, l: { e: 1 }, f: { e: 1 } };
    bench.controller.push(ExternalConfigChange.event({ source: 'db', values }));
    await settle();
    assert.deepEqual(lastValues(bench), { n: { now: 1, e: 1 }, l: { last: 1, e: 1 }, f: { e: 1 } });
    const gone = { n: null, l: null, f: null };
    bench.controller.push(ExternalConfigChange.event({ source: 'db', values: gone }));
    await settle();
    assert.deepEqual(lastValues(bench), { n: { now: 1 }, l: { last: 1 }, f: null });
  });

  it('that gives up a key which another source wants as well leaves that one [R6.4]', async () => {
    const bench = makeController([], { externalSources: [source('grpc', { x: { v: 'grpc' } })] });
    bench.controller.push(dbResync({ x: { v: 'db' } }));
    await settle();
    bench.controller.push(ExternalConfigChange.event({ source: 'grpc', values: { x: null } }));
    await settle();
    assert.deepEqual(lastValues(bench), { x: { v: 'db' } });
  });

  it('of a source that was never heard of is taken [R5.5]', async () => {
    const bench = await startedController([]);
    bench.controller.push(ExternalConfigChange.event({ source: 'new', values: { x: { v: 1 } } }));
    await settle();
    assert.deepEqual(lastValues(bench), { x: { v: 1 } });
    assert.deepEqual(bench.states.at(-1), ['ok', undefined]);
  });

  it('that could not be decoded is skipped and deletes nothing [R6.10]', async () => {
    const warnings: unknown[] = [];
    const bench = makeController([], {
      externalSources: [source('grpc', { good: { v: 1 }, bad: undefined as unknown as Value })],
      log: { ...silentLogger, warn: (fields: unknown) => void warnings.push(fields) },
    });
    bench.controller.push(dbResync({}));
    await settle();
    assert.deepEqual(lastValues(bench), { good: { v: 1 } });
    const values = { good: undefined as unknown as Value, other: { v: 2 } };
    bench.controller.push(ExternalConfigChange.event({ source: 'grpc', values }));
    await settle();
    assert.deepEqual(lastValues(bench), { good: { v: 1 }, other: { v: 2 } });
    assert.deepEqual(warnings, [
      { key: 'bad', source: 'grpc' },
      { key: 'good', source: 'grpc' },
    ]);
  });
});

describe('a large configuration', () => {
  it('is copied and merged in slices', async () => {
    /** Each read takes a millisecond. */
    class SlowClock extends ManualClock {
      turns = 0;
      #ms = 0;

      override monotonic(): number {
        return this.#ms++;
      }

      override turn(): Promise<void> {
        this.turns++;
        return super.turn();
      }
    }
    const clock = new SlowClock();
    const many = Object.fromEntries(Array.from({ length: 800 }, (_, n) => [`key/${n}`, { n }]));
    const bench = makeController([own(many)], { clock });
    const kubeState = { pod: many };
    bench.controller.push(DbResync.event({ local: false, kubeState, externalConfig: many }));
    while (!bench.controller.isIdle) await settle();
    // Two snapshots, two passes of the merge and the internal configuration, in slices of 5 ms with
    // one clock read per 16 units.
    assert.ok(clock.turns >= (5 * 800) / (6 * 16), `${clock.turns} turns`);
    assert.equal(bench.sink.requests[0]!.values.size, 800);
    assert.deepEqual(bench.desired.value('key/799'), { n: 799 });
  });
});

describe('handlers that work long', () => {
  it('let the event loop turn between them', async () => {
    const clock = new (class extends ManualClock {
      ms = 0;
      override monotonic(): number {
        return this.ms;
      }
    })();
    const order: string[] = [];
    const busy = (name: string) =>
      handler(name, [], {
        resync: () => {
          order.push(name);
          clock.ms += 10;
          setImmediate(() => order.push(`turn after ${name}`));
        },
      });
    const bench = makeController([busy('a'), busy('b')], { clock });
    bench.controller.push(DbResync.event({ local: false, kubeState: {}, externalConfig: {} }));
    while (order.length < 4) await settle();
    assert.deepEqual(order, ['a', 'turn after a', 'b', 'turn after b']);
  });
});

describe('merging', () => {
  it('an update of the handlers never removes what is wanted outside [R6.6]', async () => {
    const removing = handler('removing', [], {
      resync: ({ txn }) => put(txn, 'x', { own: 1 }),
      update: ({ txn }) => remove(txn, 'x'),
    });
    const bench = makeController([removing]);
    bench.controller.push(dbResync({ x: { e: 1 } }));
    bench.controller.push(Note.event({ n: 1 }));
    await settle();
    assert.deepEqual(lastValues(bench), { x: { e: 1 } });
  });

  it('a downstream resync has no values and does not change the cache [R6.8] [R5.20]', async () => {
    const bench = makeController([own({ x: { own: 1 } })]);
    bench.controller.push(dbResync({ y: { e: 1 } }));
    bench.controller.push(HealingResync.event({ type: 'periodic' }));
    await settle();
    assert.equal(bench.sink.requests.at(-1)!.mode, 'downstream-resync');
    assert.deepEqual(lastValues(bench), {});
    assert.deepEqual(bench.desired.value('x'), { own: 1 });
    bench.controller.push(Recalculate.event({}));
    await settle();
    assert.deepEqual(lastValues(bench), { x: { own: 1 }, y: { e: 1 } });
  });

  it('lays fields that are set over those below and appends lists [R6.9]', () => {
    const key = vppRouteModel.key(
      vppRouteModel.canonical({ dst_network: '10.0.0.0/24', next_hop_addr: '10.0.0.1' }),
    );
    const base = vppRouteModel.canonical({
      dst_network: '10.0.0.0/24',
      next_hop_addr: '10.0.0.1',
      outgoing_interface: 'a',
      weight: 3,
    });
    const over = vppRouteModel.canonical({
      dst_network: '10.0.0.0/24',
      next_hop_addr: '10.0.0.1',
      weight: 5,
    });
    const merged = mergeValues(key, base, over) as { weight: number; outgoing_interface: string };
    assert.equal(merged.weight, 5);
    assert.equal(merged.outgoing_interface, 'a');
  });

  it('a failed transaction that was undone leaves the last values of the handlers [R5.20]', async () => {
    const bench = await startedController([
      handler('a', [], {
        resync: ({ txn }) => put(txn, 'x', { v: 0 }),
        update: ({ txn, event }) => put(txn, 'x', { v: (event.payload as { n: number }).n }),
      }),
    ]);
    const failures = [{ key: 'x', operation: 'UPDATE' as const, error: new Error('no') }];
    bench.sink.reply = () => ({ seqNum: 1, failures });
    await assert.rejects(bench.controller.pushAndWait(Ask.event({ n: 1 })));
    assert.deepEqual(bench.desired.value('x'), { v: 0 });
    bench.controller.push(Note.event({ n: 2 }));
    await settle();
    assert.deepEqual(bench.desired.value('x'), { v: 2 }, 'best effort is what is wanted');
    bench.controller.push(Recalculate.event({}));
    await settle();
    assert.deepEqual(bench.desired.value('x'), { v: 0 }, 'a resync replaces, failed or not');
  });

  it('what a plugin is given of it is read-only [R6.11]', async () => {
    const given: Value[] = [];
    const value = { list: [{ a: 1 }] };
    const bench = await startedController([
      handler('a', [], {
        resync: ({ txn }) => put(txn, 'x', value),
        update: ({ txn }) => {
          put(txn, 'y', value);
          for (const key of ['x', 'y', 'z']) given.push(bench.desired.value(key)!);
          remove(txn, 'x');
          given.push(bench.desired.value('x')!);
        },
      }),
    ]);
    bench.controller.push(Note.event({ n: 1 }));
    await settle();
    assert.deepEqual(given, [value, value, undefined, undefined]);
    assert.throws(() => ((given[0] as typeof value).list[0]!.a = 2), TypeError);
    assert.throws(() => (given[1] as typeof value).list.push({ a: 3 }), TypeError);
  });
});
