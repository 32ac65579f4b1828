import assert from 'node:assert/strict';
import test from 'node:test';
import { operationsOf, setUp } from '../support/setup.ts';

test('targets are ordered as delete, recreate, create, update, each by key', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({
    'a/1': { v: 1 },
    'a/2': { v: 1, recreate: true },
    'a/3': { v: 1 },
    'a/4': { v: 1, recreate: true },
    'a/5': { v: 1 },
    'a/6': { v: 1 },
  });
  const calls = await bench.calls({
    'a/1': { v: 2 },
    'a/2': { v: 2, recreate: true },
    'a/3': null,
    'a/4': { v: 2, recreate: true },
    'a/5': { v: 2 },
    'a/6': null,
    'a/7': { v: 1 },
    'a/0': { v: 1 },
  });
  assert.deepEqual(calls, [
    'DELETE a/3',
    'DELETE a/6',
    'DELETE a/2',
    'CREATE a/2',
    'DELETE a/4',
    'CREATE a/4',
    'CREATE a/0',
    'CREATE a/7',
    'UPDATE a/1',
    'UPDATE a/5',
  ]);
  assert.deepEqual(bench.southbound.violations, []);
});

test('after a value is created, its dependents are, then its derived values', async () => {
  const bench = setUp({ window: 1 });
  const calls = await bench.calls({
    'a/1': { v: 1, derives: { 'd/a1.0': { v: 1 }, 'd/a1.1': { v: 1, needs: ['d/a2.0'] } } },
    'a/2': { v: 1, needs: ['d/a1.0'], derives: { 'd/a2.0': { v: 1 } } },
    'a/0': { v: 1, needs: ['a/2'] },
  });
  assert.deepEqual(calls, [
    'CREATE a/1',
    'CREATE d/a1.0',
    'CREATE a/2',
    'CREATE a/0',
    'CREATE d/a2.0',
    'CREATE d/a1.1',
  ]);
});

test('dependents and derived values are deleted before their value', async () => {
  const bench = setUp({ window: 1 });
  const values = {
    'a/1': { v: 1, derives: { 'd/a1.0': { v: 1 }, 'd/a1.1': { v: 1, needs: ['d/a2.0'] } } },
    'a/2': { v: 1, needs: ['d/a1.0'], derives: { 'd/a2.0': { v: 1 } } },
  };
  await bench.commit(values);
  assert.deepEqual(await bench.calls({}, { mode: 'full-resync' }), [
    'DELETE d/a1.1',
    'DELETE d/a2.0',
    'DELETE a/2',
    'DELETE d/a1.0',
    'DELETE a/1',
  ]);
  assert.deepEqual(bench.scheduler.statuses(), []);
});

test('an update is preceded by deletions of old derived values and followed by creations of new ones', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({
    'a/1': { v: 1, derives: { 'd/a1.0': { v: 1 }, 'd/a1.1': { v: 1 }, 'd/a1.2': { v: 1 } } },
  });
  const calls = await bench.calls({
    'a/1': {
      v: 2,
      derives: { 'd/a1.1': { v: 2 }, 'd/a1.2': { v: 2, recreate: true }, 'd/a1.3': { v: 1 } },
    },
  });
  assert.deepEqual(calls, [
    'DELETE d/a1.0',
    'UPDATE a/1',
    'UPDATE d/a1.1',
    'DELETE d/a1.2',
    'CREATE d/a1.2',
    'CREATE d/a1.3',
  ]);
});

test('the dependents of a recreated value are recreated, too', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({
    'a/1': { v: 1, derives: { 'd/a1.0': { v: 1 } } },
    'b/1': { v: 1, needs: ['a/1'] },
    'b/2': { v: 1, needs: ['b/1'] },
  });
  const calls = await bench.calls({
    'a/1': { v: 2, recreate: true, derives: { 'd/a1.0': { v: 1 } } },
  });
  assert.deepEqual(calls, [
    'DELETE d/a1.0',
    'DELETE b/2',
    'DELETE b/1',
    'DELETE a/1',
    'CREATE a/1',
    'CREATE b/1',
    'CREATE b/2',
    'CREATE d/a1.0',
  ]);
  assert.deepEqual(operationsOf(bench.lastRecord()), [
    'DELETE d/a1.0 recreate REMOVED',
    'DELETE b/2 PENDING',
    'DELETE b/1 PENDING',
    'DELETE a/1 recreate REMOVED',
    'CREATE a/1 recreate CONFIGURED',
    'CREATE b/1 CONFIGURED',
    'CREATE b/2 CONFIGURED',
    'CREATE d/a1.0 recreate CONFIGURED',
  ]);
});

test('a descriptor without update recreates on every change', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({ 'b/1': { v: 1 } });
  assert.deepEqual(await bench.calls({ 'b/1': { v: 2 } }), ['DELETE b/1', 'CREATE b/1']);
});

test('an update in place does not change the dependents', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({ 'a/1': { v: 1 }, 'b/1': { v: 1, needs: ['a/1'] } });
  assert.deepEqual(await bench.calls({ 'a/1': { v: 2 } }), ['UPDATE a/1']);
});

test('values that depend on each other are created together, when all their other dependencies are met', async () => {
  const bench = setUp({ window: 1 });
  const calls = await bench.calls({
    'a/1': { v: 1, needs: ['a/2'] },
    'a/2': { v: 1, needs: ['a/3'] },
    'a/3': { v: 1, needs: ['a/1', 'a/4'] },
  });
  assert.deepEqual(calls, []);
  assert.equal(bench.state('a/1'), 'PENDING [a/2]');
  assert.equal(bench.state('a/3'), 'PENDING [a/1, a/4]');
  assert.deepEqual(await bench.calls({ 'a/4': { v: 1 } }), [
    'CREATE a/4',
    'CREATE a/3',
    'CREATE a/2',
    'CREATE a/1',
  ]);
  assert.deepEqual(await bench.calls({ 'a/2': null }), ['DELETE a/3', 'DELETE a/1', 'DELETE a/2']);
  assert.equal(bench.state('a/1'), 'PENDING [a/2]');
  assert.equal(bench.state('a/3'), 'PENDING [a/1]');
});

test('the same cycle in one transaction is created in the same order', async () => {
  const bench = setUp({ window: 1 });
  const calls = await bench.calls({
    'a/1': { v: 1, needs: ['a/2'] },
    'a/2': { v: 1, needs: ['a/3'] },
    'a/3': { v: 1, needs: ['a/1', 'a/4'] },
    'a/4': { v: 1 },
  });
  assert.deepEqual(calls, ['CREATE a/4', 'CREATE a/3', 'CREATE a/2', 'CREATE a/1']);
});

test('a value cannot depend on one that is derived from it', async () => {
  const bench = setUp({ window: 1 });
  const value = { v: 1, needs: ['d/a1.0'], derives: { 'd/a1.0': { v: 1 } } };
  assert.deepEqual(await bench.calls({ 'a/1': value }), []);
  assert.equal(bench.state('a/1'), 'PENDING [d/a1.0]');
});

test('a chain of ten thousand values overflows no stack', async () => {
  const bench = setUp({ window: 1 });
  const values: Record<string, { v: number; needs?: string[] }> = { 'b/0': { v: 1 } };
  const length = 10_000;
  const name = (i: number) => `b/${String(length - i).padStart(5, '0')}`;
  for (let i = 0; i < length; i++)
    values[name(i)] = { v: 1, needs: [i === 0 ? 'b/0' : name(i - 1)] };
  bench.southbound.replies = 'now';
  // The mock's own search for circles is too slow for this many: the order tells enough.
  bench.southbound.checksRules = false;
  const calls = await bench.calls(values);
  assert.equal(calls.length, length + 1);
  assert.equal(calls.at(-1), `CREATE ${name(length - 1)}`);
  const gone = await bench.calls({ 'b/0': null });
  assert.deepEqual([gone[0], gone.at(-1)], [`DELETE ${name(length - 1)}`, 'DELETE b/0']);
});

test('operations overlap up to the window, and only where nothing forbids it', async () => {
  for (const [window, expected] of [
    [1, 1],
    [3, 3],
    [100, 5],
  ] as const) {
    const bench = setUp({ window });
    bench.southbound.replies = 'turn';
    await bench.commit(Object.fromEntries([1, 2, 3, 4, 5].map((i) => [`a/${i}`, { v: 1 }])));
    assert.equal(bench.southbound.mostInFlight, expected);
  }
  const chained = setUp({ window: 100 });
  chained.southbound.replies = 'turn';
  await chained.commit({
    'a/1': { v: 1 },
    'a/2': { v: 1, needs: ['a/1'] },
    'a/3': { v: 1, needs: ['a/2'] },
  });
  assert.equal(chained.southbound.mostInFlight, 1);
});

test('a cycle is found although its base value has no dependents, and each value but that one follows what it needs', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({ 'a/0': { v: 1, needs: ['d/b0.0'] } });
  const calls = await bench.calls({
    'b/0': { v: 1, needs: ['a/0'], derives: { 'd/b0.0': { v: 1 } } },
  });
  // Without the cycle, the first value by key would be forced to break a deadlock.
  assert.deepEqual(calls, ['CREATE b/0', 'CREATE d/b0.0', 'CREATE a/0']);
});
