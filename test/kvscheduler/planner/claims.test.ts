import assert from 'node:assert/strict';
import test from 'node:test';
import { operationsOf, setUp } from '../support/setup.ts';

test('the operation that releases a claim comes before the one that takes it', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({ 'a/2': { v: 1, claims: ['x'] } });
  const deleted = await bench.calls({ 'a/1': { v: 1, claims: ['x'] }, 'a/2': null });
  assert.deepEqual(deleted, ['DELETE a/2', 'CREATE a/1']);
  // A create would come before an update, were it not for the claim.
  const updated = await bench.calls({ 'a/0': { v: 1, claims: ['x'] }, 'a/1': { v: 2 } });
  assert.deepEqual(updated, ['UPDATE a/1', 'CREATE a/0']);
  assert.deepEqual(bench.southbound.violations, []);
});

test('a chain of updates starts at the free end', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({
    'a/1': { v: 1, claims: ['x'] },
    'a/2': { v: 1, claims: ['y'] },
    'a/3': { v: 1, claims: ['z'] },
  });
  const calls = await bench.calls({
    'a/1': { v: 2, claims: ['y'] },
    'a/2': { v: 2, claims: ['z'] },
    'a/3': { v: 2, claims: ['free'] },
  });
  assert.deepEqual(calls, ['UPDATE a/3', 'UPDATE a/2', 'UPDATE a/1']);
  assert.deepEqual(bench.southbound.violations, []);
});

test('to swap claims, one value is recreated with its dependents', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({
    'a/1': { v: 1, claims: ['x'] },
    'a/2': { v: 1, claims: ['y'] },
    'b/1': { v: 1, needs: ['a/1'] },
  });
  const calls = await bench.calls({
    'a/1': { v: 1, claims: ['y'] },
    'a/2': { v: 1, claims: ['x'] },
  });
  assert.deepEqual(calls, ['DELETE b/1', 'DELETE a/1', 'UPDATE a/2', 'CREATE a/1', 'CREATE b/1']);
  assert.deepEqual(bench.southbound.violations, []);
  const [, first] = bench.lastRecord().Executed ?? [];
  assert.equal(first?.Reason, 'claim x');
});

test('many swaps in one transaction are all found', async () => {
  const bench = setUp();
  bench.southbound.checksRules = false;
  const pairs = 200;
  const desired = (swapped: boolean) => {
    const values: Record<string, { v: number; claims: string[] }> = {};
    for (let i = 0; i < pairs; i++) {
      values[`a/${i}l`] = { v: 1, claims: [swapped ? `r${i}` : `l${i}`] };
      values[`a/${i}r`] = { v: 1, claims: [swapped ? `l${i}` : `r${i}`] };
    }
    return values;
  };
  await bench.commit(desired(false));
  const calls = await bench.calls(desired(true));
  assert.equal(calls.length, 3 * pairs);
});

test('of two values with one claim, the holder keeps it; the other is pending until it is free', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({ 'a/2': { v: 1, claims: ['x'] } });
  assert.deepEqual(await bench.calls({ 'a/1': { v: 1, claims: ['x'] } }), []);
  assert.equal(bench.state('a/1'), 'PENDING [claim x (held by a/2)]');
  assert.deepEqual(await bench.calls({ 'a/2': null }), ['DELETE a/2', 'CREATE a/1']);
  assert.equal(bench.state('a/1'), 'CONFIGURED');
  assert.equal(bench.lastRecord().Executed?.[1]?.Reason, 'claim x');
  // Who waits takes over from an update too.
  await bench.commit({ 'a/3': { v: 1, claims: ['x'] } });
  assert.deepEqual(await bench.calls({ 'a/1': { v: 2 } }), ['UPDATE a/1', 'CREATE a/3']);
  // Of two newcomers the first by key gets it.
  await bench.commit({ 'b/2': { v: 1, claims: ['y'] }, 'b/1': { v: 1, claims: ['y'] } });
  assert.equal(bench.state('b/1'), 'CONFIGURED');
  assert.equal(bench.state('b/2'), 'PENDING [claim y (held by b/1)]');
  assert.deepEqual(bench.southbound.violations, []);
});

test('a value that lost a claim and then a dependency waits for the dependency alone', async () => {
  const bench = setUp();
  await bench.commit({
    'a/1': { v: 1 },
    'a/2': { v: 1, claims: ['x'] },
    'a/3': { v: 1, needs: ['a/1'], claims: ['x'] },
  });
  assert.equal(bench.state('a/3'), 'PENDING [claim x (held by a/2)]');
  await bench.commit({ 'a/1': null });
  assert.equal(bench.state('a/3'), 'PENDING [a/1]');
  await bench.commit({ 'a/1': { v: 1 } });
  assert.equal(bench.state('a/3'), 'PENDING [claim x (held by a/2)]');
  await bench.commit({ 'a/2': null });
  assert.equal(bench.state('a/3'), 'CONFIGURED');
});

test('the claim of a value that waits for a dependency is free', async () => {
  const bench = setUp();
  await bench.commit({ 'a/1': { v: 1, claims: ['x'], needs: ['a/9'] } });
  await bench.commit({ 'a/2': { v: 1, claims: ['x'] } });
  assert.equal(bench.state('a/2'), 'CONFIGURED');
  await bench.commit({ 'a/9': { v: 1 } });
  assert.equal(bench.state('a/1'), 'PENDING [claim x (held by a/2)]');
});

test('a value that fails to release a claim blocks the one that takes it', async () => {
  const bench = setUp();
  await bench.commit({ 'a/2': { v: 1, claims: ['x'] } });
  bench.southbound.fails = (verb) => (verb === 'DELETE' ? new Error('no') : undefined);
  const failures = await bench.commit({ 'a/1': { v: 1, claims: ['x'] }, 'a/2': null });
  assert.deepEqual(failures, ['a/2 (DELETE): no']);
  assert.equal(bench.state('a/1'), 'PENDING [claim x (held by a/2)]');
  bench.southbound.fails = () => undefined;
  const calls = await bench.calls({}, { mode: 'downstream-resync' });
  assert.deepEqual(calls, ['DELETE a/2', 'CREATE a/1']);
  assert.deepEqual(operationsOf(bench.lastRecord()), [
    'DELETE a/2 REMOVED',
    'CREATE a/1 CONFIGURED',
  ]);
});

test('a waiting and a new value compete equally: the first by key gets the claim', async () => {
  const bench = setUp();
  await bench.commit({ 'a/1': { v: 1, claims: ['x'] }, 'a/2': { v: 1, claims: ['x'] } });
  await bench.commit({ 'a/1': null, 'a/3': { v: 1, claims: ['x'] } });
  assert.equal(bench.state('a/2'), 'CONFIGURED');
  assert.equal(bench.state('a/3'), 'PENDING [claim x (held by a/2)]');
  assert.deepEqual(bench.southbound.violations, []);
});

test('a value that could not be removed does not share the claim with a new one', async () => {
  const bench = setUp();
  await bench.commit({ 'b/2': { v: 1 } });
  bench.southbound.fails = (verb) => (verb === 'DELETE' ? new Error('no') : undefined);
  const taken = { 'a/1': { v: 1, claims: ['y'] }, 'b/2': { v: 1, claims: ['y'] } };
  assert.deepEqual(await bench.commit(taken), ['b/2 (DELETE): no']);
  bench.southbound.fails = (verb, key) =>
    verb === 'DELETE' && key === 'b/2' ? new Error('no') : undefined;
  await bench.commit({ 'a/1': null, 'b/1': { v: 1, claims: ['y'] } });
  assert.equal(bench.state('b/1'), 'CONFIGURED');
  assert.deepEqual(bench.southbound.violations, []);
});

test('a dependent of the loser of a claim does not block the claim', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({ 'a/3': { v: 1, any: ['b/'], claims: ['y'] }, 'b/1': { v: 1 } });
  await bench.commit({ 'b/0': { v: 1, claims: ['y'] } });
  assert.equal(bench.state('b/0'), 'PENDING [claim y (held by a/3)]');
  // Without b/1 it is b/0 that a/3 needs, and both want the same name.
  await bench.commit({ 'b/1': null });
  assert.equal(bench.state('b/0'), 'CONFIGURED');
  assert.equal(bench.state('a/3'), 'PENDING [claim y (held by b/0)]');
  assert.deepEqual(await bench.calls({}, { mode: 'downstream-resync' }), []);
  assert.deepEqual(bench.southbound.violations, []);
});
