import assert from 'node:assert/strict';
import test from 'node:test';
import { type DesiredValues, operationsOf, pass, setUp } from '../support/setup.ts';
import type { Verb } from '../support/southbound.ts';
import { TimeoutError } from '../support/timeout-error.ts';

const revert = { onFailure: 'revert' } as const;

function failingOnce(name: string) {
  let left = 1;
  return (verb: Verb, key: string) =>
    `${verb} ${key}` === name && left-- > 0 ? new Error(`no ${name}`) : undefined;
}

test('at the first failure everything is undone, in the reverse order of the plan', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1 } });
  const before = bench.southbound.contents();
  bench.southbound.fails = failingOnce('CREATE b/3');
  bench.southbound.calls.length = 0;
  const failures = await bench.commit(
    { 'a/1': { v: 2 }, 'a/2': null, 'b/1': { v: 1 }, 'b/2': { v: 1 }, 'b/3': { v: 1 } },
    revert,
  );
  assert.deepEqual(failures, ['b/3 (CREATE): no CREATE b/3']);
  assert.deepEqual(bench.southbound.takeCalls(), [
    'DELETE a/2',
    'CREATE b/1',
    'CREATE b/2',
    'CREATE b/3',
    'UPDATE a/1',
    'UPDATE a/1',
    'DELETE b/2',
    'DELETE b/1',
    'CREATE a/2',
  ]);
  assert.deepEqual(bench.southbound.contents(), before);
  assert.deepEqual(
    bench.scheduler.statuses().map(({ value }) => `${value.key} ${value.state}`),
    ['a/1 CONFIGURED', 'a/2 CONFIGURED'],
  );
  assert.deepEqual(operationsOf(bench.lastRecord()), [
    'DELETE a/2 REMOVED',
    'CREATE b/1 CONFIGURED',
    'CREATE b/2 CONFIGURED',
    'CREATE b/3 FAILED',
    'UPDATE a/1 CONFIGURED',
    'UPDATE a/1 revert CONFIGURED',
    'DELETE b/3 noop revert REMOVED',
    'DELETE b/2 revert REMOVED',
    'DELETE b/1 revert REMOVED',
    'CREATE a/2 revert CONFIGURED',
  ]);
});

test('the level in which an operation fails is completed, the next one is not started', async () => {
  for (const window of [1, 100]) {
    const bench = setUp({ window });
    bench.southbound.fails = failingOnce('CREATE a/1');
    await bench.commit(
      {
        'a/1': { v: 1 },
        'a/2': { v: 1 },
        'a/3': { v: 1, needs: ['a/2'] },
        'b/1': { v: 1 },
      },
      revert,
    );
    const calls = bench.southbound.takeCalls();
    assert.deepEqual(calls.slice(0, 3), ['CREATE a/1', 'CREATE a/2', 'CREATE b/1']);
    assert.deepEqual(calls.slice(3), ['DELETE b/1', 'DELETE a/2']);
  }
});

test('changes of other values are undone, too', async () => {
  const bench = setUp({ window: 1 });
  const derives = { 'd/b1.0': { v: 1 } };
  await bench.commit({ 'a/1': { v: 1 }, 'b/1': { v: 1, needs: ['a/1'], derives } });
  await bench.commit({ 'b/2': { v: 1, needs: ['b/3'] } });
  const before = bench.southbound.contents();
  bench.southbound.fails = failingOnce('CREATE b/1');
  await bench.commit(
    { 'a/1': { v: 2, recreate: true }, 'b/3': { v: 1 }, 'a/4': { v: 1, needs: ['b/1'] } },
    revert,
  );
  assert.deepEqual(bench.southbound.contents(), before);
  assert.equal(bench.state('b/1'), 'CONFIGURED');
  assert.equal(bench.state('d/b1.0'), 'CONFIGURED');
  assert.equal(bench.state('b/2'), 'PENDING [b/3]');
  assert.equal(bench.state('a/4'), 'NONEXISTENT');
  assert.deepEqual(bench.southbound.violations, []);
});

test('a partial update is corrected from the value that is read back', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({ 'a/1': { v: 1, derives: { 'd/a1.0': { v: 1 } } } });
  bench.southbound.fails = (verb, key) => {
    if (verb !== 'UPDATE') return undefined;
    bench.southbound.fails = () => undefined;
    bench.southbound.values.set(key, { managed: true, spec: { v: 7 } });
    return new Error('half-way');
  };
  await bench.commit({ 'a/1': { v: 2, derives: { 'd/a1.1': { v: 1 } } } }, revert);
  assert.deepEqual(bench.southbound.contents(), { 'a/1': '1', 'd/a1.0': '1' });
  const undo = bench.lastRecord().Executed?.filter(({ IsRevert }) => IsRevert);
  assert.deepEqual(
    undo?.map(({ Operation, Key }) => `${Operation} ${Key}`),
    ['UPDATE a/1', 'CREATE d/a1.0'],
  );
});

test('a value that would stay pending is a failure that names what it waits for', async () => {
  const bench = setUp();
  const failures = await bench.commit(
    { 'a/1': { v: 1 }, 'b/1': { v: 1, needs: ['a/1', 'a/9'] } },
    revert,
  );
  assert.deepEqual(failures, ['b/1 (CREATE): b/1: unmet dependency a/9']);
  assert.deepEqual(bench.southbound.takeCalls(), []);
  assert.deepEqual(bench.scheduler.statuses(), []);
  assert.equal(bench.lastRecord().Executed, undefined);
});

test('an optional value may stay pending: it is created when its dependency is met', async () => {
  const bench = setUp();
  const desired = { 'a/1': { v: 1 }, 'b/1': { v: 1, needs: ['a/9'] } };
  const revert = { onFailure: 'revert', optional: new Set(['b/1']) } as const;
  assert.deepEqual(await bench.commit(desired, revert), []);
  assert.deepEqual([bench.state('a/1'), bench.state('b/1')], ['CONFIGURED', 'PENDING [a/9]']);
  assert.deepEqual(await bench.calls({ 'a/9': { v: 1 } }), ['CREATE a/9', 'CREATE b/1']);
});

test('an optional value that is invalid, has no descriptor or fails reverts the transaction', async () => {
  const bench = setUp();
  const optional = new Set(['a/2', 'z/1']);
  const attempt = (value: DesiredValues) =>
    bench.commit({ 'a/1': { v: 1 }, ...value }, { onFailure: 'revert', optional });
  assert.equal((await attempt({ 'a/2': { v: 1, invalid: true } })).length, 1);
  assert.equal((await attempt({ 'z/1': { v: 1 } })).length, 1);
  bench.southbound.fails = (_verb, key) => (key === 'a/2' ? new Error('no') : undefined);
  assert.equal((await attempt({ 'a/2': { v: 1 } })).length, 1);
  assert.deepEqual(bench.southbound.contents(), {});
});

test('the failure of a pending value names the missing keys, not only their labels', async () => {
  const label = 'interface-to';
  const bench = setUp({}, (descriptors) =>
    descriptors.map((one) => ({
      ...one,
      dependencies: () =>
        one.name === 'beta'
          ? [
              { label, key: 'a/9' },
              { label: 'route', anyOf: { prefixes: ['a/r', 'x/'] } },
            ]
          : [],
    })),
  );
  assert.deepEqual(await bench.commit({ 'b/1': { v: 1 } }, { onFailure: 'revert' }), [
    'b/1 (CREATE): b/1: unmet dependency interface-to: a/9, ' +
      'unmet dependency route: a key with the prefix a/r or a key with the prefix x/',
  ]);
});

test('so is one that is invalid, has no descriptor or cannot have its claim', async () => {
  const bench = setUp();
  await bench.commit({ 'a/1': { v: 1, claims: ['x'] } });
  const failures = await bench.commit(
    {
      'a/2': { v: 1, claims: ['x'] },
      'a/3': { v: 1, invalid: true },
      'a/4': { v: 1, derives: { 'd/a4.0': { v: 1, invalid: true } } },
      'z/1': { v: 1 },
      'a/5': { v: 1 },
    },
    revert,
  );
  assert.deepEqual(failures.toSorted(), [
    'a/2 (CREATE): a/2: waits for claim x (held by a/1)',
    'a/3 (VALIDATE): a/3: field invalid is invalid: is bad',
    'd/a4.0 (VALIDATE): d/a4.0: field invalid is invalid: is bad',
    'z/1 (CREATE): z/1: no descriptor owns the key',
  ]);
  assert.equal(bench.state('a/5'), 'NONEXISTENT');
});

test('a derived value may wait, and so may values of others', async () => {
  const bench = setUp();
  const derives = { 'd/a1.0': { v: 1, needs: ['b/9'] } };
  await bench.commit({ 'b/1': { v: 1, needs: ['a/1'] } });
  assert.deepEqual(await bench.commit({ 'a/1': { v: 1, derives } }, revert), []);
  assert.deepEqual(await bench.commit({ 'a/1': null }, revert), []);
  assert.equal(bench.state('b/1'), 'PENDING [a/1]');
});

test('a failed undo is reported and retried by the old policy of the value', async () => {
  const bench = setUp({ window: 1 });
  const retry = { periodMs: 1000, maxAttempts: 1, exponential: false };
  await bench.commit({ 'a/1': { v: 1 } }, { retry });
  let updates = 0;
  bench.southbound.fails = (verb, key) => {
    if (verb === 'CREATE') return new Error('no create');
    if (key !== 'a/1') return undefined;
    return ++updates === 2 ? new Error('no way back') : undefined;
  };
  const failures = await bench.commit({ 'a/1': { v: 2 }, 'b/1': { v: 1 } }, revert);
  assert.deepEqual(failures, ['b/1 (CREATE): no create', 'a/1 (UPDATE): no way back']);
  assert.equal(bench.state('a/1'), 'RETRYING');
  await pass(bench, 1000, 500);
  assert.equal(bench.state('a/1'), 'CONFIGURED');
  assert.deepEqual(bench.southbound.contents(), { 'a/1': '1' });
});

test('an undo that cannot read the value is retried by the policy of the transaction', async () => {
  const bench = setUp();
  bench.southbound.losesReply = () => new TimeoutError('late');
  bench.southbound.retrieveFails = () => new Error('mute');
  const retry = { periodMs: 100, maxAttempts: 0, exponential: false };
  await bench.commit({ 'a/1': { v: 1 } }, { onFailure: 'revert', retry });
  assert.equal(bench.state('a/1'), 'RETRYING');
  bench.southbound.losesReply = () => undefined;
  bench.southbound.retrieveFails = () => undefined;
  await pass(bench, 150);
  assert.equal(bench.state('a/1'), 'NONEXISTENT');
  assert.deepEqual(bench.southbound.contents(), {});
});

test('a claim that changed hands goes back to who had it', async () => {
  for (const window of [1, 100]) {
    const bench = setUp({ window });
    await bench.commit({ 'a/2': { v: 1, claims: ['x'] } });
    await bench.commit({ 'a/1': { v: 1, claims: ['x'] } });
    const before = bench.southbound.contents();
    bench.southbound.fails = failingOnce('CREATE b/1');
    bench.southbound.calls.length = 0;
    const desired = { 'a/2': { v: 1 }, 'b/1': { v: 1, needs: ['a/1'] } };
    assert.deepEqual(await bench.commit(desired, revert), ['b/1 (CREATE): no CREATE b/1']);
    assert.deepEqual(bench.southbound.takeCalls(), [
      'UPDATE a/2',
      'CREATE a/1',
      'CREATE b/1',
      'DELETE a/1',
      'UPDATE a/2',
    ]);
    assert.deepEqual(bench.southbound.contents(), before);
    assert.equal(bench.state('a/1'), 'PENDING [claim x (held by a/2)]');
    assert.deepEqual(bench.southbound.violations, []);
  }
});

test('a rejected derived value names its base', async () => {
  const { scheduler } = setUp();
  const spec = { v: 1, derives: { 'd/a1.0': { v: 1, invalid: true } } };
  const { failures } = await scheduler.commit({
    description: '',
    mode: 'update',
    onFailure: 'revert',
    values: new Map([['a/1', spec]]),
  });
  assert.deepEqual(
    failures.map(({ key, base, operation }) => ({ key, base, operation })),
    [{ key: 'd/a1.0', base: 'a/1', operation: 'VALIDATE' }],
  );
});

test('failures of the undo are distinguished from those before it, and times are reported', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({ 'a/1': { v: 1 } });
  let updates = 0;
  bench.southbound.fails = (verb, key) => {
    if (verb === 'CREATE') return new Error('no create');
    if (key !== 'a/1') return undefined;
    return ++updates === 2 ? new Error('no way back') : undefined;
  };
  const values = new Map<string, object>([
    ['a/1', { v: 2 }],
    ['b/1', { v: 1 }],
  ]);
  const { failures, trace } = await bench.scheduler.commit({
    description: 'test',
    mode: 'update',
    values,
    ...revert,
  });
  assert.deepEqual(
    failures.map(({ key, revert: undone }) => [key, undone]),
    [
      ['b/1', undefined],
      ['a/1', true],
    ],
  );
  assert.deepEqual(trace, {
    queuedMs: 0,
    readingMs: 0,
    planningMs: 0,
    writingMs: 0,
    executionMs: 0,
    operations: 3,
  });
});

test('values that depend on derived values of each other are restored, too', async () => {
  const bench = setUp({ window: 1 });
  const apart = { v: 1, derives: { 'd/b1.1': { v: 1 } } };
  await bench.commit({
    'b/1': apart,
    'b/2': { v: 1, any: ['d/'], derives: { 'd/b2.1': { v: 1 } } },
  });
  await bench.commit({ 'b/1': { v: 1, any: ['d/'], derives: { 'd/b1.0': { v: 1 } } } });
  const before = bench.southbound.contents();
  assert.deepEqual(Object.keys(before), ['b/1', 'b/2', 'd/b1.0', 'd/b2.1']);
  bench.southbound.fails = (_verb, key, { v }) =>
    key === 'b/2' && v === 2 ? new Error('no') : undefined;
  await bench.commit({ 'b/2': { v: 2 } }, { onFailure: 'revert' });
  assert.deepEqual(bench.southbound.contents(), before);
  assert.equal(bench.state('b/1'), 'CONFIGURED');
});

test('dependents of a value that was lost meanwhile are deleted before it is restored', async () => {
  const bench = setUp({ window: 1 });
  const { southbound } = bench;
  await bench.commit({ 'a/1': { v: 1 }, 'b/1': { v: 1, needs: ['a/1'] } });
  southbound.checksRules = false;
  southbound.takeCalls();
  southbound.fails = (verb, key) => {
    if (`${verb} ${key}` !== 'UPDATE a/1') return undefined;
    southbound.changeExternally(key, null);
    return new Error('gone');
  };
  assert.deepEqual(await bench.commit({ 'a/1': { v: 2 } }, revert), ['a/1 (UPDATE): gone']);
  assert.deepEqual(southbound.takeCalls(), [
    'UPDATE a/1',
    'DELETE b/1',
    'CREATE a/1',
    'CREATE b/1',
  ]);
  assert.deepEqual(southbound.contents(), { 'a/1': '1', 'b/1': '1|a/1' });
});
