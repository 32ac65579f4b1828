/** Values that their descriptor rejects: the last valid value stays in place. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import { operationsOf, setUp } from './support/setup.ts';
import type { Southbound, Spec } from './support/southbound.ts';

const invalid = { v: 2, invalid: true };
const base = { v: 1, derives: { 'd/a1.0': { v: 1 }, 'p/a1': { v: 1 } } };
const dependents = {
  'b/1': { v: 1, needs: ['a/1'] },
  'b/2': { v: 1, needs: ['d/a1.0'] },
  'a/2': { v: 1, any: ['p/'] },
};
const full = { mode: 'full-resync' } as const;
const KEPT = 'INVALID [invalid] last valid CONFIGURED';

test('an invalid update leaves the last valid value in place, with all that needs it', async () => {
  const bench = setUp();
  await bench.commit({ 'a/1': base, ...dependents });
  const contents = bench.southbound.contents();
  bench.southbound.takeCalls();
  const failures = await bench.commit({ 'a/1': invalid });
  assert.deepEqual(failures, ['a/1 (VALIDATE): a/1: field invalid is invalid: is bad']);
  assert.deepEqual(operationsOf(bench.lastRecord()), ['UPDATE a/1 noop INVALID']);
  const [{ NewErrMsg, Reason } = {}] = bench.lastRecord().Executed ?? [];
  assert.deepEqual([NewErrMsg, Reason], ['a/1: field invalid is invalid: is bad', 'invalid']);
  assert.deepEqual(bench.scheduler.status('a/1').value, {
    key: 'a/1',
    state: 'INVALID',
    error: 'a/1: field invalid is invalid: is bad',
    last_operation: 'UPDATE',
    details: ['invalid'],
    last_valid_state: 'CONFIGURED',
  });
  for (const mode of ['update', 'full-resync', 'upstream-resync'] as const)
    assert.deepEqual(await bench.commit({ 'a/1': invalid, ...dependents }, { mode }), [], mode);
  await bench.commit({}, { mode: 'downstream-resync' });
  for (const key of ['d/a1.0', 'b/1', 'b/2', 'a/2']) assert.equal(bench.state(key), 'CONFIGURED');
  assert.deepEqual([bench.southbound.takeCalls(), bench.southbound.contents()], [[], contents]);
});

test('views show both: the desired one what is desired, the others what is configured', async () => {
  const { commit, scheduler } = setUp();
  await commit({ 'a/1': { v: 1 } });
  await commit({ 'a/1': invalid });
  const valueIn = async (view: 'NB' | 'SB' | 'cached') => {
    const dumped = await scheduler.dump(view, { descriptor: 'alpha' });
    return dumped.map(({ Value }) => (Value.value as Spec).v).join();
  };
  assert.deepEqual(
    [await valueIn('NB'), await valueIn('SB'), await valueIn('cached')],
    ['2', '1', '1'],
  );
});

test('a valid update replaces it, the same valid value needs no operation, a deletion removes it', async () => {
  const bench = setUp();
  await bench.commit({ 'a/1': base, ...dependents });
  await bench.commit({ 'a/1': invalid });
  await bench.commit({ 'a/1': { v: 3, invalid: true } });
  assert.equal(bench.state('a/1'), KEPT);
  assert.deepEqual(await bench.calls({ 'a/1': base }), []);
  assert.equal(bench.state('a/1'), 'CONFIGURED');
  await bench.commit({ 'a/1': invalid });
  assert.deepEqual(await bench.calls({ 'a/1': { ...base, v: 4 } }), ['UPDATE a/1']);
  assert.equal(bench.scheduler.status('a/1').value.error, undefined);
  await bench.commit({ 'a/1': invalid });
  const calls = await bench.calls({ 'a/1': null });
  assert.deepEqual(
    calls.toSorted(),
    ['a/1', 'a/2', 'b/1', 'b/2', 'd/a1.0'].map((k) => `DELETE ${k}`),
  );
  assert.equal(bench.state('a/1'), 'NONEXISTENT');
  await bench.commit({ 'a/1': invalid });
  assert.equal(bench.state('a/1'), 'INVALID [invalid]');
  assert.equal(bench.state('b/1'), 'PENDING [a/1]');
});

test('a derived value that becomes invalid stays as it was while its base is updated', async () => {
  const bench = setUp();
  await bench.commit({ 'a/1': base, ...dependents });
  const derives = { ...base.derives, 'd/a1.0': invalid };
  assert.deepEqual(await bench.calls({ 'a/1': { v: 2, derives } }), ['UPDATE a/1']);
  assert.deepEqual([bench.state('a/1'), bench.state('d/a1.0')], ['CONFIGURED', KEPT]);
  assert.equal(bench.state('b/2'), 'CONFIGURED');
});

test('a last valid value is created as soon as it can be, and is lost and repaired as any other', async () => {
  const bench = setUp();
  await bench.commit({ 'a/1': { v: 1, needs: ['a/2'] } });
  await bench.commit({ 'a/1': { ...invalid, needs: ['a/3'] } });
  assert.equal(bench.state('a/1'), 'INVALID [invalid] last valid PENDING');
  assert.deepEqual(await bench.calls({ 'a/2': { v: 1 } }), ['CREATE a/2', 'CREATE a/1']);
  assert.equal(bench.state('a/1'), KEPT);
  bench.southbound.values.delete('a/1');
  assert.deepEqual(await bench.calls({}, { mode: 'downstream-resync' }), ['CREATE a/1']);
  assert.deepEqual(await bench.calls({ 'a/2': null }), ['DELETE a/1', 'DELETE a/2']);
  assert.equal(bench.state('a/1'), 'INVALID [invalid] last valid PENDING');
});

test('an operation on it that fails is shown and retried, then the value is invalid again', async () => {
  const bench = setUp();
  await bench.commit({ 'a/1': { v: 1 } });
  await bench.commit({ 'a/1': invalid });
  bench.southbound.values.delete('a/1');
  bench.southbound.fails = () => new Error('no memory');
  const failures = await bench.commit({}, { mode: 'downstream-resync' });
  assert.deepEqual(failures, ['a/1 (CREATE): no memory']);
  const { state, error, details } = bench.scheduler.status('a/1').value;
  assert.deepEqual([state, error], ['FAILED', 'no memory']);
  assert.deepEqual(details, ['invalid: a/1: field invalid is invalid: is bad']);
  bench.southbound.fails = () => undefined;
  assert.deepEqual(await bench.commit({}, { mode: 'downstream-resync' }), []);
  assert.equal(bench.state('a/1'), KEPT);
});

test('a RevertOnFailure transaction with an invalid value changes nothing', async () => {
  const bench = setUp();
  await bench.commit({ 'a/1': { v: 1 } });
  await bench.commit({ 'a/1': invalid });
  bench.southbound.takeCalls();
  const change = { 'a/1': { v: 3, invalid: true }, 'a/2': { v: 1 } };
  assert.equal((await bench.commit(change, { onFailure: 'revert' })).length, 1);
  assert.deepEqual([bench.southbound.takeCalls(), bench.state('a/1')], [[], KEPT]);
  bench.southbound.fails = (verb) => (verb === 'CREATE' ? new Error('no') : undefined);
  await bench.commit({ 'a/1': { v: 4 }, 'a/2': { v: 1 } }, { onFailure: 'revert' });
  assert.equal(bench.state('a/1'), KEPT);
});

test('a value whose derived values cannot be computed is invalid, and the last valid one stays', async () => {
  const bench = setUp({}, (descriptors) =>
    descriptors.map((one) => ({
      ...one,
      derived: (key: string, spec: Spec) => {
        if (spec.v === 9) throw new Error('cannot derive');
        return one.derived?.(key, spec) ?? [];
      },
    })),
  );
  await bench.commit({ 'a/1': base, ...dependents });
  assert.deepEqual(await bench.calls({ 'a/1': { v: 9 } }), []);
  assert.equal(bench.state('a/1'), 'INVALID last valid CONFIGURED');
  assert.equal(bench.state('b/2'), 'CONFIGURED');
});

/** The agent restarts: another scheduler reads the same southbound. */
function restart(southbound: Southbound) {
  const descriptors = southbound.descriptors();
  const scheduler = createScheduler({ descriptors, clock: new ManualClock(), log: silentLogger });
  const commit = async (values: Record<string, Spec>) => {
    southbound.takeCalls();
    southbound.setDesired(new Map(Object.entries(values)));
    const { failures } = await scheduler.commit({
      description: 'after a restart',
      mode: 'full-resync',
      onFailure: 'best-effort',
      values: new Map(Object.entries(values)),
    });
    return [southbound.takeCalls(), failures.map(({ key }) => key)];
  };
  const state = (key: string) => scheduler.status(key).value.state;
  return { scheduler, commit, state };
}

test('after a restart the value that is in the southbound stays until the desired one is valid or removed', async () => {
  const bench = setUp();
  await bench.commit({ 'a/1': base, ...dependents });
  const desired = { 'a/1': invalid, ...dependents };
  const { scheduler, commit, state } = restart(bench.southbound);
  assert.deepEqual(await commit(desired), [[], ['a/1']]);
  assert.equal(scheduler.status('a/1').value.last_valid_state, 'CONFIGURED');
  assert.deepEqual(['a/1', 'b/1', 'b/2', 'a/2'].map(state), [
    'INVALID',
    'CONFIGURED',
    'CONFIGURED',
    'CONFIGURED',
  ]);
  assert.deepEqual(await commit(desired), [[], []]);
  assert.deepEqual(await commit({ 'a/1': { ...base, v: 5 }, ...dependents }), [['UPDATE a/1'], []]);
  assert.equal(state('a/1'), 'CONFIGURED');
  const again = restart(bench.southbound);
  await again.commit(desired);
  const [calls] = await again.commit(dependents);
  assert.ok(calls?.includes('DELETE a/1'));
});

test('a value that another component created is not taken over by an invalid one', async () => {
  const bench = setUp();
  bench.southbound.changeExternally('a/1', { v: 7 });
  assert.equal((await bench.commit({ 'a/1': invalid }, full)).length, 1);
  assert.equal(bench.state('a/1'), 'OBTAINED');
  assert.deepEqual(await bench.calls({}, full), []);
  assert.deepEqual(bench.southbound.contents(), { 'a/1': 'foreign 7' });
});
