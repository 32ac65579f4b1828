/** Queued events of the database that a later Database Resync replaces, and resyncs in a full queue. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defineError } from '#infra/errors/errors.ts';
import { AbortEventError } from '#plugins/controller/api/errors.ts';
import { defineEvent, EventMethod } from '#plugins/controller/api/event.ts';
import { DbResync, ExternalConfigChange, KubeStateChange } from '#plugins/controller/api/events.ts';
import { QUEUE_CAPACITY } from '#plugins/controller/event-queue.ts';
import { eventKindsOf, handler, makeController, settle } from './controller-harness.ts';

const UnreachableError = defineError({
  name: 'UnreachableError',
  code: 'CV_TEST_UNREACHABLE',
  remedy: 'Start it.',
});

const Wire = defineEvent<{ readonly names: string }>({
  id: 'wire',
  blocking: false,
  name: 'Wire',
  method: EventMethod.Update,
});

type Namespaces = Readonly<Record<string, { readonly name: string; readonly version: string }>>;

const named = (name: string, version: string): Namespaces => ({ [name]: { name, version } });
const resync = (namespace: Namespaces = {}) =>
  DbResync.event({ local: false, kubeState: { namespace }, externalConfig: {} });
const added = (name: string, version: string) =>
  KubeStateChange.event({
    resource: 'namespace',
    key: name,
    previous: undefined,
    current: named(name, version)[name],
  });

/** A handler that remembers the namespaces; its resyncs abort while it is broken. */
function remembering() {
  const remembered: { seen: unknown; broken: number } = { seen: undefined, broken: 0 };
  const look = (ctx: { kubeState: { get(resource: string): unknown } }) => {
    remembered.seen = Object.fromEntries((ctx.kubeState.get('namespace') ?? []) as []);
  };
  const one = handler('a', [], {
    resync: (ctx) => {
      if (remembered.broken-- > 0)
        throw new AbortEventError('cannot list the NICs', { cause: new UnreachableError('no') });
      look(ctx);
    },
    update: look,
  });
  return { remembered, handler: one };
}

describe('a queue that is full of updates, all of which wait for a resync', () => {
  it('still accepts a Database Resync, which replaces them [R4.10]', async () => {
    const { remembered, handler: one } = remembering();
    remembered.broken = 1;
    const bench = makeController([one]);
    bench.controller.push(resync());
    await settle();
    for (let n = 0; n < QUEUE_CAPACITY; n++) bench.controller.push(added(`ns${n}`, 'old'));
    assert.throws(() => bench.controller.push(added('more', 'old')), /full/);
    bench.controller.push(resync(named('now', 'new')));
    await settle();
    assert.ok(bench.controller.isSynced);
    assert.equal(bench.controller.queueLength, 0);
    assert.deepEqual(remembered.seen, named('now', 'new'));
  });

  it('still accepts the healing resync after a restart of VPP [R4.10]', async () => {
    const { remembered, handler: one } = remembering();
    let generation = 1;
    const bench = makeController([one], { southboundGeneration: () => generation });
    bench.controller.push(resync());
    await settle();
    assert.ok(bench.controller.isSynced);
    remembered.broken = 1;
    generation = 2;
    bench.controller.southboundReconnected();
    await bench.clock.advance(0);
    for (let n = 0; n < QUEUE_CAPACITY; n++) bench.controller.push(added(`ns${n}`, 'new'));
    assert.equal(bench.controller.isSynced, false);
    await bench.clock.advance(60_000);
    await settle();
    assert.ok(bench.controller.isSynced);
    assert.equal(bench.controller.queueLength, 0);
    assert.equal(Object.keys(remembered.seen as object).length, QUEUE_CAPACITY);
  });
});

describe('a Database Resync', () => {
  it('replaces the changes that were read before it, and no later ones [R4.14]', async () => {
    const { remembered, handler: one } = remembering();
    remembered.broken = 1;
    const bench = makeController([one]);
    bench.controller.push(resync());
    await settle();
    const values = { 'config/a': { n: 1 } };
    bench.controller.push(added('a', 'old'));
    bench.controller.push(added('b', 'old'));
    bench.controller.push(ExternalConfigChange.event({ source: 'db', values }));
    bench.controller.push(ExternalConfigChange.event({ source: 'grpc', values }));
    bench.controller.push(resync(named('b', 'new')));
    bench.controller.push(added('c', 'new'));
    await settle();
    assert.deepEqual(eventKindsOf(bench).slice(1), [
      'database-resync',
      'external-config-change',
      'kube-state-change',
    ]);
    assert.deepEqual(remembered.seen, { ...named('b', 'new'), ...named('c', 'new') });
  });

  it('replaces earlier ones that wait for the current event [R4.14]', async () => {
    const { remembered, handler: one } = remembering();
    const bench = makeController([one]);
    const released = Promise.withResolvers<void>();
    bench.sink.reply = async () => {
      await released.promise;
      return { seqNum: 0, failures: [] };
    };
    bench.controller.push(resync());
    await settle();
    for (let n = 0; n < 50; n++) bench.controller.push(resync(named('a', String(n))));
    released.resolve();
    await settle();
    assert.deepEqual(eventKindsOf(bench), ['database-resync', 'database-resync']);
    assert.deepEqual(remembered.seen, named('a', '49'));
  });

  it('replaces the follow-ups of changes that wait until VPP is configured [R4.14]', async () => {
    let generation = 1;
    const names = (ctx: { kubeState: { get(resource: string): unknown } }) =>
      [...((ctx.kubeState.get('namespace') ?? new Map()) as Map<string, unknown>).keys()].join();
    let wired = '';
    let during = () => {};
    const one = handler('a', [], {
      resync: (ctx) => {
        wired = names(ctx);
      },
      update: (ctx) => {
        if (Wire.is(ctx.event)) wired = ctx.event.payload.names;
        else {
          ctx.followUp(Wire.event({ names: names(ctx) }));
          during();
        }
      },
    });
    const bench = makeController([one], { southboundGeneration: () => generation });
    bench.controller.push(resync());
    await settle();
    bench.controller.push(added('a', 'old'));
    await settle();
    assert.equal(wired, 'a');
    // VPP restarts during the change of b, and the database is read again
    during = () => {
      generation = 2;
      bench.controller.push(resync(named('a', 'new')));
    };
    bench.controller.push(added('b', 'old'));
    await settle();
    assert.deepEqual(eventKindsOf(bench).slice(2), [
      'wire',
      'kube-state-change',
      'database-resync',
    ]);
    assert.equal(wired, 'a', 'b is not in the database any more');
  });
});
