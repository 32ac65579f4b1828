import assert from 'node:assert/strict';
import test from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { operationsOf, setUp, withDescriptor } from '../support/setup.ts';
import type { Spec } from '../support/southbound.ts';

test('a value waits for its dependency, is deleted with it and created again with it', async () => {
  const bench = setUp();
  assert.deepEqual(await bench.calls({ 'b/1': { v: 1, needs: ['a/1', 'a/2'] } }), []);
  assert.equal(bench.state('b/1'), 'PENDING [a/1, a/2]');
  assert.deepEqual(operationsOf(bench.lastRecord()), ['CREATE b/1 noop PENDING']);
  assert.deepEqual(await bench.calls({ 'a/1': { v: 1 } }), ['CREATE a/1']);
  assert.equal(bench.state('b/1'), 'PENDING [a/2]');
  assert.deepEqual(await bench.calls({ 'a/2': { v: 1 } }), ['CREATE a/2', 'CREATE b/1']);
  assert.equal(bench.state('b/1'), 'CONFIGURED');
  assert.deepEqual(await bench.calls({ 'a/1': null }), ['DELETE b/1', 'DELETE a/1']);
  assert.equal(bench.state('b/1'), 'PENDING [a/1]');
  assert.deepEqual(await bench.calls({ 'b/1': null }), []);
  assert.deepEqual(operationsOf(bench.lastRecord()), ['DELETE b/1 noop REMOVED']);
  assert.equal(bench.state('b/1'), 'NONEXISTENT');
});

test('the label shows while pending, not the key', async () => {
  const dependencies = () => [{ label: 'the interface', key: 'b/1' }];
  const bench = setUp({}, withDescriptor('alpha', { dependencies }));
  await bench.commit({ 'a/1': { v: 1 } });
  assert.equal(bench.state('a/1'), 'PENDING [the interface]');
});

test('any of a set of prefixes is enough, and another may take over', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({ 'b/1': { v: 1, any: ['a/x', 'a/y'] } });
  assert.equal(bench.state('b/1'), 'PENDING [any of a/x, any of a/y]');
  const value = { v: 1, any: ['a/'] };
  assert.deepEqual(await bench.calls({ 'b/1': value }), []);
  assert.deepEqual(await bench.calls({ 'a/1': { v: 1 } }), ['CREATE a/1', 'CREATE b/1']);
  assert.deepEqual(await bench.calls({ 'a/2': { v: 1 } }), ['CREATE a/2']);
  assert.deepEqual(await bench.calls({ 'a/1': null }), ['DELETE a/1']);
  assert.deepEqual(await bench.calls({ 'a/2': null, 'a/3': { v: 1 } }), [
    'DELETE b/1',
    'DELETE a/2',
    'CREATE a/3',
    'CREATE b/1',
  ]);
  assert.deepEqual(bench.southbound.violations, []);
});

test('a selector narrows the prefixes', async () => {
  const accepts = (key: string) => key.endsWith('!');
  const dependencies = () => [{ label: 'loud', anyOf: { prefixes: ['a/'], accepts } }];
  const bench = setUp({}, withDescriptor('beta', { dependencies }));
  await bench.commit({ 'b/1': { v: 1 }, 'a/1': { v: 1 } });
  assert.equal(bench.state('b/1'), 'PENDING [loud]');
  await bench.commit({ 'a/2!': { v: 1 } });
  assert.equal(bench.state('b/1'), 'CONFIGURED');
  await bench.commit({ 'a/2!': null });
  assert.equal(bench.state('b/1'), 'PENDING [loud]');
});

test('a change of dependencies alone moves a value', async () => {
  // Equivalent although it depends on something else: nothing to be done in the southbound.
  const bench = setUp({ window: 1 }, withDescriptor('alpha', { equivalent: () => true }));
  await bench.commit({ 'a/1': { v: 1 }, 'b/1': { v: 1 }, 'b/2': { v: 1 } });
  assert.deepEqual(await bench.calls({ 'a/1': { v: 1, needs: ['b/1'] } }), []);
  assert.equal(bench.state('a/1'), 'CONFIGURED');
  assert.deepEqual(await bench.calls({ 'a/1': { v: 1, needs: ['b/9'] } }), ['DELETE a/1']);
  assert.equal(bench.state('a/1'), 'PENDING [b/9]');
  assert.deepEqual(await bench.calls({ 'a/1': { v: 1, needs: ['b/2'] } }), ['CREATE a/1']);
  assert.deepEqual(await bench.calls({ 'b/1': null }), ['DELETE b/1']);
  assert.deepEqual(await bench.calls({ 'b/2': null }), ['DELETE a/1', 'DELETE b/2']);
});

test('an update with an unmet dependency deletes the old value', async () => {
  const bench = setUp();
  await bench.commit({ 'a/1': { v: 1 }, 'b/1': { v: 1, needs: ['a/1'] } });
  const calls = await bench.calls({ 'a/1': { v: 2, needs: ['a/9'] } });
  assert.deepEqual(calls, ['DELETE b/1', 'DELETE a/1']);
  assert.equal(bench.state('a/1'), 'PENDING [a/9]');
  assert.equal(bench.lastRecord().Executed?.[1]?.Reason, 'dependency lost: a/9');
});

test('derived values exist only as long as their base does', async () => {
  const bench = setUp();
  const derives = { 'd/a1.0': { v: 1 }, 'd/a1.1': { v: 1, needs: ['b/1'] }, 'p/a1': { v: 1 } };
  await bench.commit({ 'a/1': { v: 1, needs: ['a/2'], derives } });
  assert.equal(bench.state('d/a1.0'), 'NONEXISTENT');
  await bench.commit({ 'a/2': { v: 1 } });
  assert.equal(bench.state('d/a1.0'), 'CONFIGURED');
  assert.equal(bench.state('d/a1.1'), 'PENDING [b/1]');
  assert.equal(bench.state('p/a1'), 'CONFIGURED');
  const [shown] = bench.scheduler.statuses('a/1');
  assert.deepEqual(
    shown?.derived_values?.map(({ key }) => key),
    ['d/a1.0', 'd/a1.1', 'p/a1'],
  );
  assert.deepEqual(bench.scheduler.status('d/a1.0'), bench.scheduler.status('a/1'));
  await bench.commit({ 'a/2': null });
  assert.equal(bench.state('d/a1.0'), 'NONEXISTENT');
  assert.equal(bench.state('d/a1.1'), 'NONEXISTENT');
  assert.equal(bench.state('a/1'), 'PENDING [a/2]');
});

test('a property needs no descriptor, can be depended on and makes no call', async () => {
  const bench = setUp();
  await bench.commit({ 'b/1': { v: 1, needs: ['p/a1'] } });
  const calls = await bench.calls({ 'a/1': { v: 1, derives: { 'p/a1': { v: 1 } } } });
  assert.deepEqual(calls, ['CREATE a/1', 'CREATE b/1']);
  const [, property] = bench.lastRecord().Executed ?? [];
  assert.deepEqual([property?.Key, property?.IsProperty], ['p/a1', true]);
  assert.deepEqual(await bench.calls({ 'a/1': { v: 2 } }), ['DELETE b/1', 'UPDATE a/1']);
});

test('a derived value with the key of another value is ignored with a warning; a target with the key of a derived value is rejected', async () => {
  const bench = setUp();
  await bench.commit({ 'a/1': { v: 1 } });
  await bench.commit({ 'a/2': { v: 1, derives: { 'a/1': { v: 7 }, 'd/a2.0': { v: 1 } } } });
  assert.equal(bench.scheduler.status('a/2').derived_values?.length, 1);
  assert.match(bench.logged[0]?.text ?? '', /its key belongs to another value/);
  const failures = await bench.commit({ 'd/a2.0': { v: 1 } });
  assert.deepEqual(failures, ['d/a2.0 (VALIDATE): d/a2.0: is derived from a/2']);
  assert.equal(bench.state('d/a2.0'), 'CONFIGURED');
});

test('a derived value whose key another value had is created when the key is free', async () => {
  const bench = setUp();
  const derives = { 'd/x': { v: 1 } };
  await bench.commit({ 'a/1': { v: 1, derives }, 'a/2': { v: 1 } });
  // it moves to another base
  await bench.commit({ 'a/1': null, 'a/2': { v: 1, derives } });
  assert.equal(bench.state('d/x'), 'CONFIGURED');
  assert.deepEqual(await bench.calls({ 'a/3': { v: 1, derives: { 'd/x': { v: 3 } } } }), [
    'CREATE a/3',
  ]);
  // its base is removed, or has to wait
  assert.deepEqual(await bench.calls({ 'a/2': { v: 1, derives, needs: ['a/4'] } }), [
    'DELETE d/x',
    'DELETE a/2',
    'CREATE d/x',
  ]);
  assert.deepEqual(await bench.calls({ 'a/4': { v: 1 } }), ['CREATE a/4', 'CREATE a/2']);
  assert.deepEqual(await bench.calls({ 'a/3': null }), ['DELETE d/x', 'DELETE a/3', 'CREATE d/x']);
  assert.equal(bench.state('d/x'), 'CONFIGURED');
  assert.deepEqual(await bench.calls({ 'a/2': null }), ['DELETE d/x', 'DELETE a/2']);
});

test('a derived value is created when the value that took its key turns out to be impossible', async () => {
  const bench = setUp();
  const derives = { 'd/x': { v: 1 } };
  // the first base gives the key up in the same plan, before any value has it
  await bench.commit({ 'a/1': { v: 1, derives, needs: ['a/none'] }, 'a/2': { v: 1, derives } });
  assert.equal(bench.state('a/1'), 'PENDING [a/none]');
  assert.equal(bench.state('d/x'), 'CONFIGURED');
});

test('a key that becomes free twice in one transaction is derived by the value that can have it', async () => {
  const bench = setUp();
  const derives = { 'd/x': { v: 1 } };
  const first = { 'd/y': { v: 1 } };
  await bench.commit({ 'b/2': { v: 1, derives: first } });
  // a/2 takes d/x in the first plan, and again in the second one, in which a/1 takes d/y
  await bench.commit({
    'a/1': { v: 1, derives: first },
    'a/2': { v: 1, derives, needs: ['d/y', 'a/none'] },
    'b/2': { v: 1, derives },
  });
  assert.equal(bench.state('a/2'), 'PENDING [a/none]');
  assert.equal(bench.state('d/y'), 'CONFIGURED');
  assert.equal(bench.state('d/x'), 'CONFIGURED');
  assert.deepEqual(bench.southbound.violations, []);
});

test('of several bases that wait for a key the first one gets it, then the next', async () => {
  const bench = setUp();
  const derives = { 'd/x': { v: 1 } };
  for (const key of ['a/1', 'a/3', 'a/2']) await bench.commit({ [key]: { v: 1, derives } });
  const baseOfKey = () => bench.scheduler.status('d/x').value.key;
  assert.equal(baseOfKey(), 'a/1');
  await bench.commit({ 'a/1': { v: 1 } });
  assert.equal(baseOfKey(), 'a/2');
  await bench.commit({ 'a/1': { v: 1, derives } });
  await bench.commit({ 'a/2': null, 'a/3': { v: 2, derives } });
  assert.equal(baseOfKey(), 'a/1');
  await bench.commit({ 'a/1': null });
  assert.equal(baseOfKey(), 'a/3');
  assert.equal(bench.state('d/x'), 'CONFIGURED');
});

test('a value without a descriptor is kept and reported, not created', async () => {
  const bench = setUp();
  assert.deepEqual(await bench.commit({ 'z/1': { v: 1 } }), []);
  assert.equal(bench.state('z/1'), 'UNIMPLEMENTED');
  assert.deepEqual(operationsOf(bench.lastRecord()), ['CREATE z/1 noop UNIMPLEMENTED']);
  await bench.commit({ 'z/1': null });
  assert.equal(bench.state('z/1'), 'NONEXISTENT');
});

test('an invalid new value is reported with its fields, and its dependents are pending', async () => {
  const bench = setUp();
  const desired = { 'a/1': { v: 2, invalid: true }, 'b/1': { v: 1, needs: ['a/1'] } };
  const failures = await bench.commit(desired);
  assert.deepEqual(failures, ['a/1 (VALIDATE): a/1: field invalid is invalid: is bad']);
  assert.equal(bench.state('a/1'), 'INVALID [invalid]');
  assert.equal(bench.state('b/1'), 'PENDING [a/1]');
  assert.deepEqual(bench.southbound.contents(), {});
  assert.deepEqual(await bench.commit({ 'a/1': { v: 2, invalid: true } }), []);
  assert.deepEqual(await bench.calls({ 'a/1': { v: 3 } }), ['CREATE a/1', 'CREATE b/1']);
  assert.deepEqual(
    bench.lastRecord().Executed?.map(({ PrevErrMsg }) => PrevErrMsg),
    ['a/1: field invalid is invalid: is bad', undefined],
  );
});

test('a descriptor function that throws affects its own value only', async () => {
  const dependencies = () => {
    throw new Error('oops');
  };
  const bench = setUp({}, withDescriptor('alpha', { dependencies }));
  const failures = await bench.commit({ 'a/1': { v: 1 }, 'b/1': { v: 1 } });
  assert.deepEqual(failures, ['a/1 (VALIDATE): a/1: oops']);
  assert.equal(bench.state('b/1'), 'CONFIGURED');
});

test('a change visits only the values that it can reach', async () => {
  const visitsOf = async (others: number) => {
    const bench = setUp();
    bench.southbound.checksRules = false;
    const values: Record<string, { v: number; needs?: string[]; any?: string[] }> = {
      'a/hub': { v: 1 },
      'b/of': { v: 1, needs: ['a/one'] },
      'b/any': { v: 1, any: ['a/o'] },
      'a/one': { v: 1 },
    };
    for (let i = 0; i < others; i++) values[`b/${i}`] = { v: 1, needs: ['a/hub'] };
    await bench.commit(values);
    const before = bench.scheduler.visits + bench.scheduler.lookUps;
    await bench.commit({ 'a/hub': { v: 2 }, 'a/one': { v: 2, recreate: true } });
    await bench.commit({ 'a/one': null, 'a/other': { v: 1 } });
    return bench.scheduler.visits + bench.scheduler.lookUps - before;
  };
  const few = await visitsOf(10);
  assert.equal(await visitsOf(2000), few);
  assert.ok(few < 300, `${few} visits and look-ups`);
});

test('a change does not visit the contended keys of other values', async () => {
  const visitsOf = async (contended: number) => {
    const bench = setUp();
    bench.southbound.checksRules = false;
    const derives: Record<string, Spec> = {};
    for (let i = 0; i < contended; i++) derives[`d/${i}`] = { v: 1 };
    await bench.commit({ 'a/1': { v: 1, derives }, 'a/2': { v: 1, derives } });
    const { visits } = bench.scheduler;
    await bench.commit({ 'b/1': { v: 1, derives: { 'd/x': { v: 1 } } } });
    await bench.commit({ 'b/2': { v: 1, derives: { 'd/x': { v: 1 } } } });
    await bench.commit({ 'b/1': null });
    assert.equal(bench.scheduler.status('b/2').derived_values?.length, 1);
    return bench.scheduler.visits - visits;
  };
  assert.equal(await visitsOf(1000), await visitsOf(10));
});

test('a value with many dependents is processed in slices, too', async () => {
  /** Time passes by looking at values: fifty take a millisecond. */
  class BusyClock extends ManualClock {
    look = () => 0;
    override monotonic(): number {
      return this.look() / 50;
    }
  }
  const clock = new BusyClock();
  const bench = setUp({ clock });
  clock.look = () => bench.scheduler.visits;
  bench.southbound.checksRules = false;
  const desired: Record<string, Spec> = {
    'a/hub': { v: 1 },
    'a/other': { v: 1, needs: ['a/hub'] },
  };
  for (let i = 0; i < 10_000; i++) desired[`b/${i}`] = { v: 1, needs: ['a/hub', 'a/other'] };
  await bench.commit(desired);
  await bench.commit({ 'a/hub': { v: 2, recreate: true } });
  await bench.commit({ 'a/other': null });
  assert.equal(bench.state('b/9999'), 'PENDING [a/other]');
  await bench.commit(desired, { mode: 'full-resync' });
  assert.equal(bench.state('b/9999'), 'CONFIGURED');
  const { longestStretch } = bench.scheduler.load;
  assert.ok(longestStretch > 0 && longestStretch < 20, `${longestStretch} ms`);
});

test('a cycle that leads through a derived value is configured, at once and step by step', async () => {
  const first = { v: 1, derives: { 'd/a1.0': { v: 1 } } };
  const cycle = { 'a/1': { ...first, needs: ['b/1'] }, 'b/1': { v: 1, needs: ['d/a1.0'] } };
  const atOnce = setUp();
  assert.deepEqual(await atOnce.commit(cycle), []);
  const inSteps = setUp();
  await inSteps.commit({ 'a/1': first });
  await inSteps.commit({ 'b/1': cycle['b/1'] });
  await inSteps.commit({ 'a/1': cycle['a/1'] });
  for (const bench of [atOnce, inSteps]) {
    for (const key of ['a/1', 'd/a1.0', 'b/1']) assert.equal(bench.state(key), 'CONFIGURED', key);
    assert.deepEqual(await bench.calls(cycle, { mode: 'full-resync' }), []);
    assert.deepEqual(bench.southbound.violations, []);
    await bench.commit({ 'b/1': null });
    assert.equal(bench.state('a/1'), 'PENDING [b/1]');
    assert.deepEqual(bench.southbound.contents(), {});
    await bench.commit({ 'b/1': cycle['b/1'] });
    assert.equal(bench.state('a/1'), 'CONFIGURED');
  }
});
