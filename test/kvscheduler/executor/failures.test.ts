import assert from 'node:assert/strict';
import test from 'node:test';
import { operationsOf, setUp, withDescriptor } from '../support/setup.ts';
import type { Spec, Verb } from '../support/southbound.ts';
import { TimeoutError } from '../support/timeout-error.ts';

const failing =
  (...names: string[]) =>
  (verb: Verb, key: string) =>
    names.includes(`${verb} ${key}`) ? new Error(`no ${verb} ${key}`) : undefined;

const timingOut =
  (...names: string[]) =>
  (verb: Verb, key: string) =>
    names.includes(`${verb} ${key}`) ? new TimeoutError('timeout') : undefined;

test('best effort: all operations that do not wait for the failed one are executed', async () => {
  const bench = setUp({ window: 1 });
  bench.southbound.fails = failing('CREATE a/1');
  const failures = await bench.commit({
    'a/1': { v: 1, derives: { 'd/a1.0': { v: 1 } } },
    'a/2': { v: 1 },
    'b/1': { v: 1, needs: ['a/1'] },
    'b/2': { v: 1, needs: ['a/2'] },
  });
  assert.deepEqual(failures, ['a/1 (CREATE): no CREATE a/1']);
  assert.deepEqual(bench.southbound.takeCalls(), ['CREATE a/1', 'CREATE a/2', 'CREATE b/2']);
  assert.equal(bench.state('a/1'), 'FAILED');
  assert.equal(bench.state('b/1'), 'PENDING [a/1]');
  assert.equal(bench.state('d/a1.0'), 'NONEXISTENT');
  assert.deepEqual(operationsOf(bench.lastRecord()), [
    'CREATE a/1 FAILED',
    'CREATE a/2 CONFIGURED',
    'CREATE b/2 CONFIGURED',
    'CREATE b/1 noop PENDING',
  ]);
  assert.equal(bench.scheduler.status('a/1').value.error, 'no CREATE a/1');
  assert.equal(bench.scheduler.status('a/1').value.last_operation, 'CREATE');
});

test('only the failed value is read back before planning again', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1 } });
  bench.southbound.retrieves.length = 0;
  bench.southbound.fails = failing('UPDATE a/1');
  await bench.commit({ 'a/1': { v: 2 } });
  // The descriptor gets the other values too, so that it does not take their data for this value's.
  assert.deepEqual(bench.southbound.retrieves, [
    { descriptor: 'alpha', keys: ['a/1', 'a/2'], only: ['a/1'] },
  ]);
  assert.equal(bench.state('a/1'), 'FAILED');
  // The old value is still there, so who depends on it may come.
  assert.deepEqual(await bench.calls({ 'b/1': { v: 1, needs: ['a/1'] } }), ['CREATE b/1']);
});

test('a failed update that destroyed the value removes its dependents', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({ 'a/1': { v: 1 }, 'b/1': { v: 1, needs: ['a/1'] } });
  bench.southbound.checksRules = false;
  bench.southbound.fails = (verb, key) => {
    if (verb !== 'UPDATE') return undefined;
    bench.southbound.values.delete(key);
    return new Error('gone');
  };
  await bench.commit({ 'a/1': { v: 2 } });
  assert.deepEqual(bench.southbound.takeCalls().slice(-2), ['UPDATE a/1', 'DELETE b/1']);
  assert.equal(bench.state('b/1'), 'PENDING [a/1]');
});

test('a failed value is not changed in the rest of the transaction', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1, needs: ['a/1'] } });
  bench.southbound.fails = failing('DELETE a/2');
  const failures = await bench.commit({ 'a/1': null, 'a/2': null });
  assert.deepEqual(failures, ['a/2 (DELETE): no DELETE a/2']);
  assert.equal(bench.southbound.takeCalls().filter((call) => call === 'DELETE a/2').length, 1);
  assert.equal(bench.state('a/2'), 'FAILED');
  assert.equal(bench.state('a/1'), 'CONFIGURED');
  bench.southbound.fails = () => undefined;
  const calls = await bench.calls({}, { mode: 'downstream-resync' });
  assert.deepEqual(calls, ['DELETE a/2', 'DELETE a/1']);
});

test('no dependent is created again on a value whose deletion failed', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({ 'a/1': { v: 1 }, 'b/1': { v: 1, needs: ['a/1'] } });
  bench.southbound.fails = failing('DELETE a/1');
  await bench.commit({ 'a/1': null });
  assert.equal(bench.state('a/1'), 'FAILED');
  assert.equal(bench.state('b/1'), 'PENDING [a/1]');
  assert.deepEqual(bench.southbound.contents(), { 'a/1': '1' });
  // When it is desired again, it is in sync, and its dependent is created.
  assert.deepEqual(await bench.calls({ 'a/1': { v: 1 } }), ['CREATE b/1']);
  assert.equal(bench.state('a/1'), 'CONFIGURED');
});

test('no dependent is created on a value that lost its dependency, even if its deletion failed', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1, needs: ['a/1'] } });
  bench.southbound.fails = failing('DELETE a/2');
  await bench.commit({ 'a/1': null });
  assert.equal(bench.state('a/2'), 'FAILED');
  assert.equal(bench.state('a/1'), 'CONFIGURED');
  assert.deepEqual(await bench.calls({ 'b/1': { v: 1, needs: ['a/2'] } }), []);
  assert.equal(bench.state('b/1'), 'PENDING [a/2]');
  bench.southbound.fails = () => undefined;
  assert.deepEqual(await bench.calls({ 'a/1': { v: 1 } }), ['CREATE b/1']);
});

test('a derived value whose deletion fails blocks the deletion of its base', async () => {
  const bench = setUp({ window: 1 });
  const derives = { 'd/a1.0': { v: 1 }, 'd/a1.1': { v: 1 } };
  await bench.commit({ 'a/1': { v: 1, derives } });
  bench.southbound.fails = failing('DELETE d/a1.0');
  const failures = await bench.commit({ 'a/1': null });
  assert.deepEqual(failures, ['d/a1.0 (DELETE): no DELETE d/a1.0']);
  assert.deepEqual(operationsOf(bench.lastRecord()), [
    'DELETE d/a1.0 FAILED',
    'DELETE d/a1.1 REMOVED',
  ]);
  assert.equal(bench.state('a/1'), 'CONFIGURED');
  assert.equal(bench.state('d/a1.0'), 'FAILED');
  assert.equal(bench.state('d/a1.1'), 'NONEXISTENT');
});

test('a key whose deletion failed is free when its base is removed in the same transaction', async () => {
  const bench = setUp();
  const derives = { 'd/a1.0': { v: 1 } };
  await bench.commit({ 'a/1': { v: 1, derives } });
  await bench.commit({ 'b/1': { v: 1, derives } });
  // it was executed, so the base can be deleted, too
  bench.southbound.losesReply = failing('DELETE d/a1.0');
  assert.deepEqual(await bench.commit({ 'a/1': null }), ['d/a1.0 (DELETE): no DELETE d/a1.0']);
  assert.equal(bench.state('d/a1.0'), 'CONFIGURED');
  assert.equal(bench.scheduler.status('d/a1.0').value.key, 'b/1');
});

test('an update waits for the deletions before it, and is not executed if one fails', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({ 'a/1': { v: 1, derives: { 'd/a1.0': { v: 1 } } } });
  bench.southbound.fails = failing('DELETE d/a1.0');
  await bench.commit({ 'a/1': { v: 2, derives: { 'd/a1.1': { v: 1 } } } });
  assert.deepEqual(bench.southbound.takeCalls().slice(-1), ['DELETE d/a1.0']);
  assert.equal(bench.southbound.values.get('a/1')?.spec.v, 1);
  bench.southbound.fails = () => undefined;
  assert.deepEqual(await bench.calls({}, { mode: 'downstream-resync' }), [
    'DELETE d/a1.0',
    'UPDATE a/1',
    'CREATE d/a1.1',
  ]);
});

test('a derived value that fails does not make its base fail', async () => {
  const bench = setUp({ window: 1 });
  bench.southbound.fails = failing('CREATE d/a1.1');
  const derives = { 'd/a1.0': { v: 1 }, 'd/a1.1': { v: 1 } };
  const failures = await bench.commit({ 'a/1': { v: 1, derives } });
  assert.deepEqual(failures, ['d/a1.1 (CREATE): no CREATE d/a1.1']);
  assert.equal(bench.state('a/1'), 'CONFIGURED');
  assert.equal(bench.state('d/a1.0'), 'CONFIGURED');
  assert.equal(bench.state('d/a1.1'), 'FAILED');
  bench.southbound.fails = () => undefined;
  // When the base is desired again, its derived value is created.
  assert.deepEqual(await bench.calls({ 'a/1': { v: 1, derives } }), ['CREATE d/a1.1']);
});

test('a failed derived value is reported with its base', async () => {
  const bench = setUp({ window: 1 });
  bench.southbound.fails = failing('CREATE d/a1.0', 'CREATE a/2');
  const { failures } = await bench.scheduler.commit({
    description: 'derived',
    mode: 'update',
    values: new Map([
      ['a/1', { v: 1, derives: { 'd/a1.0': { v: 1 } } }],
      ['a/2', { v: 1 }],
    ]),
    onFailure: 'best-effort',
  });
  assert.deepEqual(failures.map(({ key, base }) => [key, base]).sort(), [
    ['a/2', undefined],
    ['d/a1.0', 'a/1'],
  ]);
});

test('a cycle with a member that fails is not left partially created', async () => {
  const bench = setUp({ window: 1 });
  bench.southbound.fails = failing('CREATE a/2');
  await bench.commit({ 'a/1': { v: 1, needs: ['a/2'] }, 'a/2': { v: 1, needs: ['a/1'] } });
  assert.deepEqual(bench.southbound.contents(), {});
  assert.equal(bench.state('a/1'), 'PENDING [a/2]');
  assert.equal(bench.state('a/2'), 'FAILED');
});

test('unknown outcome: the value is read back before any other operation', async () => {
  const bench = setUp({ window: 1 });
  bench.southbound.losesReply = timingOut('CREATE a/1');
  const failures = await bench.commit({ 'a/1': { v: 1 }, 'b/1': { v: 1, needs: ['a/1'] } });
  assert.deepEqual(failures, ['a/1 (CREATE): timeout']);
  assert.equal(bench.state('a/1'), 'FAILED');
  bench.southbound.losesReply = () => undefined;
  assert.deepEqual(await bench.calls({ 'a/1': { v: 1 } }), []);
  assert.equal(bench.state('a/1'), 'CONFIGURED');
  assert.deepEqual(bench.southbound.violations, []);
});

test('unknown outcome of a delete: when it is known, the blocked deletions are executed', async () => {
  const bench = setUp({ window: 1 });
  const { southbound, scheduler } = bench;
  const report = async (value: Spec | null) => {
    southbound.changeExternally('b/f', value);
    scheduler.pushNotification([{ key: 'b/f', value }]);
    await scheduler.dump('SB', { descriptor: 'beta' });
  };
  await report({ v: 1 });
  await bench.commit({
    'a/1': { v: 1, needs: ['b/f'] },
    'a/2': { v: 1, needs: ['a/1'], derives: { 'd/a2.0': { v: 1 } } },
  });
  southbound.takeCalls();
  southbound.losesReply = timingOut('DELETE d/a2.0');
  await report(null);
  assert.deepEqual(southbound.takeCalls(), ['DELETE d/a2.0', 'DELETE a/2', 'DELETE a/1']);
  assert.equal(bench.state('a/1'), 'PENDING [b/f]');
  assert.equal(bench.state('a/2'), 'PENDING [a/1]');
});

test('unknown outcome without a read: the value is not changed until it can be read', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({ 'a/9': { v: 1, claims: ['y'] } });
  bench.southbound.losesReply = timingOut('CREATE a/1');
  bench.southbound.retrieveFails = () => new Error('gone');
  await bench.commit({ 'a/1': { v: 1, needs: ['a/9'], claims: ['x'] } });
  // Its dependency is not deleted, and its claim is not passed to another value.
  const failures = await bench.commit({
    'a/1': { v: 2 },
    'a/9': null,
    'b/1': { v: 1, claims: ['x'] },
    'b/2': { v: 1, needs: ['a/1'] },
  });
  assert.deepEqual(bench.southbound.takeCalls().slice(2), []);
  assert.deepEqual(failures, [
    'a/1 (UNDEFINED): a/1: could not be read back after its last operation (timeout)',
    'a/9 (UNDEFINED): a/9: is needed by a value that could not be read back after its last operation',
  ]);
  assert.equal(bench.state('b/1'), 'PENDING [claim x (held by a/1)]');
  assert.equal(bench.state('b/2'), 'PENDING [a/1]');
  bench.southbound.retrieveFails = () => undefined;
  bench.southbound.losesReply = () => undefined;
  const calls = await bench.calls({}, { mode: 'downstream-resync' });
  assert.deepEqual(calls, ['DELETE a/1', 'DELETE a/9', 'CREATE b/1', 'CREATE a/1', 'CREATE b/2']);
  assert.deepEqual(bench.southbound.violations, []);
});

test('an update of unknown outcome counts as having the old and the new claims', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({ 'a/1': { v: 1, claims: ['x'] } });
  bench.southbound.losesReply = timingOut('UPDATE a/1');
  bench.southbound.retrieveFails = () => new Error('gone');
  await bench.commit({ 'a/1': { v: 2, claims: ['y'] } });
  await bench.commit({ 'b/1': { v: 1, claims: ['x'] }, 'b/2': { v: 1, claims: ['y'] } });
  assert.equal(bench.state('b/1'), 'PENDING [claim x (held by a/1)]');
  assert.equal(bench.state('b/2'), 'PENDING [claim y (held by a/1)]');
  bench.southbound.retrieveFails = () => undefined;
  bench.southbound.losesReply = () => undefined;
  await bench.commit({}, { mode: 'downstream-resync' });
  assert.equal(bench.state('b/1'), 'CONFIGURED');
  assert.equal(bench.state('b/2'), 'PENDING [claim y (held by a/1)]');
});

test('an operation that a descriptor does not implement fails and is not retried', async () => {
  const bench = setUp({}, withDescriptor('beta', { create: undefined as never }));
  const retry = { periodMs: 1, maxAttempts: 3, exponential: false };
  const failures = await bench.commit({ 'b/1': { v: 1 } }, { retry });
  assert.deepEqual(failures, ['b/1 (CREATE): b/1: descriptor beta has no create']);
  assert.equal(bench.state('b/1'), 'FAILED');
  assert.equal(bench.clock.pending, 0);
});

test('a thrown non-error or a synchronous throw is a failure like any other', async () => {
  const create = () => {
    throw 'just text';
  };
  const bench = setUp({}, withDescriptor('beta', { create }));
  assert.deepEqual(await bench.commit({ 'b/1': { v: 1 } }), ['b/1 (CREATE): just text']);
});

test('failures come in the order of the plan, whatever the order of the replies', async () => {
  const bench = setUp();
  bench.southbound.fails = () => new Error('no');
  let answered = 0;
  bench.southbound.replies = {
    next: () => (answered++ % 2 === 0 ? 0.99 : 0),
    bytes: () => new Uint8Array(),
  };
  const failures = await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1 }, 'b/1': { v: 1 } });
  assert.deepEqual(
    failures.map((text) => text.slice(0, 3)),
    ['a/1', 'a/2', 'b/1'],
  );
});

test('a derived value that is created at the second attempt is deleted with its dependency', async () => {
  const bench = setUp({ window: 1 });
  const derives = { 'd/a1.0': { v: 1, needs: ['a/2'] } };
  bench.southbound.fails = (verb, key) => {
    if (key !== 'd/a1.0') return undefined;
    bench.southbound.values.set('a/1', { managed: true, spec: { v: 9 } });
    return new Error(`no ${verb}`);
  };
  await bench.commit({ 'a/1': { v: 1, derives }, 'a/2': { v: 1 } });
  bench.southbound.fails = () => undefined;
  const calls = await bench.calls({}, { mode: 'downstream-resync' });
  assert.deepEqual(calls, ['UPDATE a/1', 'CREATE d/a1.0']);
  assert.deepEqual(await bench.calls({ 'a/2': null }), ['DELETE d/a1.0', 'DELETE a/2']);
  assert.equal(bench.state('d/a1.0'), 'PENDING [a/2]');
});

test('a value set while it cannot be read is inspected by its descriptor later', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1 } });
  bench.southbound.losesReply = timingOut('UPDATE a/1');
  bench.southbound.retrieveFails = () => new Error('cannot read');
  await bench.commit({ 'a/1': { v: 2 } });
  bench.southbound.losesReply = () => undefined;
  const desired = { 'a/1': { v: 3, needs: ['a/2'] } };
  await bench.commit(desired);
  bench.southbound.retrieveFails = () => undefined;
  await bench.commit(desired);
  assert.equal(bench.state('a/1'), 'CONFIGURED');
  assert.deepEqual(await bench.calls({ 'a/2': null }), ['DELETE a/1', 'DELETE a/2']);
  bench.southbound.losesReply = timingOut('CREATE a/1');
  bench.southbound.retrieveFails = () => new Error('cannot read');
  await bench.commit({ 'a/2': { v: 1 } });
  bench.southbound.losesReply = () => undefined;
  await bench.commit({ 'a/1': { v: 4, invalid: true } });
  bench.southbound.retrieveFails = () => undefined;
  await bench.commit({ 'a/1': { v: 4, invalid: true } });
  assert.equal(bench.state('a/1'), 'INVALID [invalid] last valid CONFIGURED');
});

const throws = () => {
  throw new Error('boom');
};

for (const [what, change] of Object.entries({
  label: { label: throws },
  metadataFields: { metadataFields: throws },
  isRetriable: { isRetriable: throws },
  accepts: {
    dependencies: () => [{ label: 'any', anyOf: { prefixes: ['a/'], accepts: throws } }],
  },
}))
  test(`a descriptor whose ${what} throws does not block other values`, async () => {
    const bench = setUp({}, withDescriptor('beta', change));
    bench.southbound.fails = failing('CREATE b/2');
    const desired = { 'a/1': { v: 1 }, 'b/1': { v: 1 }, 'b/2': { v: 1 }, 'a/2': { v: 1 } };
    const ready = what === 'accepts' ? [] : ['b/2 (CREATE): no CREATE b/2'];
    for (const mode of ['full-resync', 'update'] as const)
      assert.deepEqual(await bench.commit(desired, { mode }), ready);
    assert.equal(bench.state('a/2'), 'CONFIGURED');
    assert.equal(bench.state('b/1'), what === 'accepts' ? 'PENDING [any]' : 'CONFIGURED');
    const told = bench.logged.filter(({ level }) => level === 'error');
    assert.deepEqual(told, [
      {
        level: 'error',
        fields: { descriptor: 'beta', what, error: 'boom' },
        text: 'descriptor function threw',
      },
    ]);
  });

test('the old and the new dependencies of a value of unknown outcome stay', async () => {
  const bench = setUp({ window: 1 });
  const neighbors = { 'b/1': { v: 1 }, 'b/2': { v: 1 } };
  await bench.commit({ ...neighbors, 'a/1': { v: 1, needs: ['b/1'] } });
  bench.southbound.losesReply = timingOut('UPDATE a/1');
  bench.southbound.retrieveFails = () => new Error('cannot read');
  await bench.commit({ 'a/1': { v: 2, needs: ['b/2'] } });
  bench.southbound.losesReply = () => undefined;
  assert.deepEqual(await bench.calls({ 'b/1': null, 'b/2': null }), []);
  bench.southbound.retrieveFails = () => undefined;
  const calls = await bench.calls({}, { mode: 'downstream-resync' });
  assert.deepEqual(calls, ['DELETE b/1', 'DELETE a/1', 'DELETE b/2']);
  assert.equal(bench.state('a/1'), 'PENDING [b/2]');
});

test('an operation that did not take place leaves no dependency behind', async () => {
  const bench = setUp();
  await bench.commit({ 'a/2': { v: 1 }, 'b/1': { v: 1 } });
  await bench.commit({ 'a/1': { v: 1, needs: ['a/2'] } });
  const timeout = new TimeoutError('timeout');
  bench.southbound.fails = () => timeout;
  await bench.commit({ 'a/1': { v: 2, needs: ['b/1'] } });
  bench.southbound.fails = () => undefined;
  assert.deepEqual(await bench.calls({ 'a/1': { v: 1, needs: ['a/2'] }, 'b/1': null }), [
    'DELETE b/1',
  ]);
  assert.equal(bench.state('a/1'), 'CONFIGURED');
});

test('no value relies on a value of unknown outcome', async () => {
  const bench = setUp();
  const { southbound } = bench;
  const derives = { 'd/a1.0': { v: 1 } };
  await bench.commit({ 'b/1': { v: 1 }, 'b/2': { v: 1 }, 'a/1': { v: 1, any: ['b/'], derives } });
  southbound.losesReply = timingOut('DELETE b/1');
  southbound.retrieveFails = (name) => (name === 'beta' ? new Error('mute') : undefined);
  await bench.commit({ 'b/1': null });
  assert.ok(!southbound.values.has('b/1'));
  southbound.fails = failing('DELETE d/a1.0');
  assert.deepEqual(await bench.calls({ 'b/2': null }), ['DELETE d/a1.0']);
  southbound.fails = () => undefined;
  southbound.replies = 'turn';
  assert.deepEqual(await bench.calls({ 'b/2': null }), [
    'DELETE d/a1.0',
    'DELETE a/1',
    'DELETE b/2',
  ]);
  assert.deepEqual(southbound.violations, []);
});

test('descriptors that cannot read the southbound are one line of the log', async () => {
  const bench = setUp();
  await bench.commit({ 'a/1': { v: 1 } });
  bench.southbound.retrieveFails = (name) => new Error(`no ${name}`);
  await bench.commit({}, { mode: 'downstream-resync' });
  const [line, ...others] = bench.logged.filter(({ text }) => /cannot read/.test(text));
  assert.deepEqual(others, []);
  assert.deepEqual((line!.fields as { failures: string[] }).failures.slice(0, 2), [
    'alpha: no alpha',
    'beta: no beta',
  ]);
});
