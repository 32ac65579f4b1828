import assert from 'node:assert/strict';
import test from 'node:test';
import type { OperationContext } from '#kvscheduler/api/descriptor.ts';
import { setUp } from '../support/setup.ts';

test('metadata is kept by label as long as the value exists', async () => {
  const bench = setUp();
  const map = bench.scheduler.metadataMap<number>('alpha');
  assert.ok(map);
  const events: string[] = [];
  map.watch('test', ({ name, value, update, del }) =>
    events.push(`${name} ${value}${update ? ' update' : ''}${del ? ' del' : ''}`),
  );
  await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1 } });
  assert.deepEqual(map.listAllNames(), ['1', '2']);
  assert.deepEqual(map.listNames('number', '2'), ['2']);
  await bench.commit({ 'a/1': { v: 2 } });
  await bench.commit({ 'a/1': null });
  bench.southbound.renumber('a/2', 9);
  await bench.commit({}, { mode: 'downstream-resync' });
  bench.southbound.values.clear();
  await bench.commit({}, { mode: 'full-resync' });
  assert.deepEqual(events, ['1 1', '2 2', '1 1 del', '2 9 update', '2 9 del']);
  assert.equal(bench.scheduler.metadataMap('absent'), undefined);
});

test('an operation reads the metadata of its base and of its dependencies by key', async () => {
  const bench = setUp();
  const seen: string[] = [];
  bench.southbound.onCall = (verb, key, context) => {
    const read = (other: string) => {
      try {
        return context.metadata<number>(other);
      } catch (thrown) {
        return (thrown as { code: string }).code;
      }
    };
    if (key === 'd/a1.0')
      seen.push(`${verb} ${key}: a/1 ${read('a/1')}, a/2 ${read('a/2')}, b/1 ${read('b/1')}`);
    if (key === 'b/1') seen.push(`${verb} ${key}: a/1 ${read('a/1')}, p/a1 ${read('p/a1')}`);
  };
  const derives = { 'd/a1.0': { v: 1, needs: ['a/2'], any: ['b/'] }, 'p/a1': { v: 1 } };
  await bench.commit({
    'a/1': { v: 1, derives },
    'a/2': { v: 1 },
    'b/1': { v: 1, needs: ['p/a1'] },
  });
  await bench.commit({ 'a/1': null });
  assert.deepEqual(seen, [
    'CREATE b/1: a/1 CV_SCHED_UNDECLARED_READ, p/a1 CV_SCHED_NO_METADATA',
    'CREATE d/a1.0: a/1 1, a/2 2, b/1 CV_SCHED_UNDECLARED_READ',
    'DELETE d/a1.0: a/1 1, a/2 2, b/1 CV_SCHED_UNDECLARED_READ',
    'DELETE b/1: a/1 CV_SCHED_UNDECLARED_READ, p/a1 CV_SCHED_NO_METADATA',
  ]);
});

test('an operation learns which key meets its dependency', async () => {
  const bench = setUp();
  const seen: string[] = [];
  bench.southbound.onCall = (verb, key, context) => {
    if (key !== 'b/1') return;
    assert.throws(() => context.metBy('another'), { code: 'CV_SCHED_UNDECLARED_READ' });
    seen.push(`${verb}: ${context.metBy('a/2')}, ${context.metBy('any of a/')}`);
  };
  await bench.commit({ 'a/2': { v: 1 }, 'b/1': { v: 1, needs: ['a/2'], any: ['a/'] } });
  await bench.commit({ 'a/1': { v: 1 } });
  await bench.commit({ 'a/2': null });
  assert.deepEqual(seen, ['CREATE: a/2, a/2', 'DELETE: a/2, a/1']);
});

test('an operation that reads the metadata of a value waits for the update of that value', async () => {
  for (const window of [1, 100]) {
    const bench = setUp({ window });
    bench.southbound.replies = 'turn';
    await bench.commit({ 'a/1': { v: 1 }, 'b/1': { v: 1 } });
    const read: string[] = [];
    bench.southbound.onCall = (verb, key, context: OperationContext) => {
      const updating = bench.southbound.flights.has('a/1');
      if (key !== 'a/1') read.push(`${verb} ${key} ${context.metadata('a/1')} ${updating}`);
    };
    await bench.commit({ 'a/1': { v: 2 }, 'a/2': { v: 1, needs: ['a/1'] } });
    assert.deepEqual(read, ['CREATE a/2 1 false']);
    assert.deepEqual(bench.southbound.takeCalls().slice(2), ['CREATE a/2', 'UPDATE a/1']);
    assert.equal(bench.southbound.mostInFlight, window === 1 ? 1 : 2);
  }
});

test('dumps show desired, known and found values', async () => {
  const bench = setUp();
  const { scheduler, southbound } = bench;
  await bench.commit({
    'a/1': { v: 1, derives: { 'd/a1.0': { v: 1 } } },
    'a/2': { v: 1, needs: ['a/9'] },
  });
  southbound.changeExternally('a/f', { v: 5 });
  scheduler.pushNotification([{ key: 'a/f', value: { v: 5 }, metadata: 7 }]);
  southbound.values.delete('d/a1.0');
  const shown = async (view: 'SB' | 'NB' | 'cached') => {
    const values = await scheduler.dump(view, { keyPrefix: 'a/' });
    return values.map(({ Key, Value, Origin, Metadata }) => {
      const { v } = Value.value as { v: number };
      return `${Key} ${v} ${Origin} ${Metadata}`;
    });
  };
  assert.deepEqual(await shown('SB'), ['a/1 1 1 1', 'a/f 5 2 undefined']);
  assert.deepEqual(await shown('NB'), ['a/1 1 1 undefined', 'a/2 1 1 undefined']);
  assert.deepEqual(await shown('cached'), ['a/1 1 1 1', 'a/f 5 2 7']);
  await assert.rejects(scheduler.dump('NB', { descriptor: 'absent' }), {
    code: 'CV_SCHED_UNKNOWN_DESCRIPTOR',
  });
  await assert.rejects(scheduler.dump('NB', { keyPrefix: 'a' }), {
    code: 'CV_SCHED_UNKNOWN_DESCRIPTOR',
  });
  await assert.rejects(scheduler.dump('SB', { descriptor: 'derived' }), {
    code: 'CV_SCHED_NO_RETRIEVE',
  });
});
