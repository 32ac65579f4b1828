/** The plan of a change: nothing is executed, and the later change does the same. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { RecordedTxnOp } from '#kvscheduler/history/record.ts';
import type { Preview } from '#kvscheduler/planner/preview.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { scripts } from '../support/scripts.ts';
import { type Bench, type DesiredValues, setUp } from '../support/setup.ts';
import { TimeoutError } from '../support/timeout-error.ts';

function planOf(
  { scheduler }: Bench,
  desired: DesiredValues,
  mode: 'update' | 'resync' = 'update',
) {
  return scheduler.plan({ mode, values: new Map(Object.entries(desired)) });
}

const lines = ({ Operations }: Preview): string[] =>
  Operations.map(
    ({ Operation, Key, NewState, Reason }) => `${Operation} ${Key} ${NewState ?? ''}: ${Reason}`,
  );

/** Changes of values that derive, need and claim the same few keys and names. */
const changes = fc.boolean().chain((isWhole) => {
  const derivedKeys = ['d/x', 'd/y', 'd/z'];
  const bases = ['a/1', 'a/2', 'a/3', 'b/1', 'b/2'];
  const needs = fc.oneof(
    { weight: 2, arbitrary: fc.constant<string[]>([]) },
    { weight: 1, arbitrary: fc.subarray([...derivedKeys, 'a/2', 'b/1'], { maxLength: 2 }) },
  );
  const derived = fc.record({ v: fc.nat(1), needs, invalid: fc.nat(9).map((n) => n === 0) });
  const value = fc.record({
    v: fc.nat(1),
    needs,
    any: fc.constantFrom<string[]>([], [], ['d/']),
    derives: fc.dictionary(fc.constantFrom(...derivedKeys), derived, { maxKeys: 3 }),
    claims: fc.constantFrom<string[]>([], [], ['name']),
    recreate: fc.boolean(),
    invalid: fc.nat(9).map((n) => n === 0),
  });
  const one = isWhole ? value : fc.option(value, { freq: 3 });
  const desired = fc.dictionary(fc.constantFrom(...bases), one, { minKeys: 1, maxKeys: 3 });
  // calls that fail leave failed and blocked values behind, for which the next change has a plan, too
  const failing = fc.oneof(
    { weight: 3, arbitrary: fc.constant<string[]>([]) },
    { weight: 1, arbitrary: fc.subarray([...bases, ...derivedKeys]) },
  );
  return fc.record({ isWhole: fc.constant(isWhole), desired, failing });
});

/** The observable state of a scheduler and its southbound. */
async function pictureOf({ scheduler, southbound }: Bench): Promise<string> {
  const views = [];
  for (const view of ['NB', 'cached'] as const)
    for (const descriptor of ['alpha', 'beta', 'derived'])
      views.push(await scheduler.dump(view, { descriptor }));
  const shown = [scheduler.statuses(), views, scheduler.history(), southbound.contents()];
  return JSON.stringify([...shown, southbound.calls, southbound.retrieves]);
}

describe('plan without applying', () => {
  it('gives the operations in order, each with its reason', async () => {
    const bench = setUp();
    await bench.commit({
      'a/1': { v: 1 },
      'a/2': { v: 1, needs: ['a/1'], derives: { 'd/a2.0': { v: 1 } } },
      'b/1': { v: 1 },
      'b/2': { v: 1, claims: ['x'] },
    });
    const plan = await planOf(bench, {
      'a/1': null,
      'a/3': { v: 1 },
      'b/1': { v: 2 },
      'b/2': { v: 1, claims: ['y'] },
      'b/3': { v: 1, claims: ['x'] },
    });
    assert.deepEqual(lines(plan), [
      'DELETE d/a2.0 REMOVED: derived from a/2',
      'DELETE a/2 PENDING: dependency lost: a/1',
      'DELETE a/1 REMOVED: changed',
      'DELETE b/1 REMOVED: changed',
      'CREATE b/1 CONFIGURED: changed',
      'DELETE b/2 REMOVED: changed',
      'CREATE b/2 CONFIGURED: changed',
      'CREATE a/3 CONFIGURED: changed',
      'CREATE b/3 CONFIGURED: changed',
    ]);
  });

  it('treats a resync as the whole desired state', async () => {
    const bench = setUp();
    await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1 } });
    const plan = await planOf(bench, { 'a/2': { v: 1 }, 'a/3': { v: 1 } }, 'resync');
    assert.deepEqual(lines(plan), [
      'DELETE a/1 REMOVED: leftover',
      'CREATE a/3 CONFIGURED: changed',
    ]);
    assert.deepEqual(bench.southbound.retrieves, []);
  });

  it('has the reasons of the later record, whatever the order of the values is', async () => {
    const bench = setUp();
    await bench.commit({ 'b/1': { v: 1, needs: ['a/1'] } });
    await bench.commit({ 'a/1': { v: 1 } });
    const plan = await planOf(bench, {}, 'resync');
    await bench.commit({}, { mode: 'upstream-resync' });
    assert.equal(JSON.stringify(plan.Operations), JSON.stringify(bench.lastRecord().Planned));
    assert.deepEqual(lines(plan), [
      'DELETE b/1 REMOVED: dependency lost: a/1',
      'DELETE a/1 REMOVED: leftover',
    ]);
  });

  it('reports values that are invalid or would be rejected', async () => {
    const bench = setUp();
    await bench.commit({ 'a/1': { v: 1, derives: { 'd/a1.0': { v: 1 } } } });
    const plan = await planOf(bench, {
      'a/2': { v: 1, invalid: true },
      'd/a1.0': { v: 2 },
      'z/1': { v: 1 },
    });
    assert.deepEqual(lines(plan), [
      'CREATE a/2 INVALID: invalid',
      'CREATE z/1 UNIMPLEMENTED: changed',
    ]);
    assert.match(plan.Operations[0]?.NewErrMsg ?? '', /field invalid is invalid/);
    assert.deepEqual(plan.Refused, [{ Key: 'd/a1.0', Error: 'd/a1.0: is derived from a/1' }]);
  });

  it('does not change values that have to be read back first, and names them', async () => {
    const bench = setUp();
    await bench.commit({ 'a/1': { v: 1 } });
    bench.southbound.losesReply = () => new TimeoutError('?');
    bench.southbound.retrieveFails = () => new Error('mute');
    await bench.commit({ 'a/1': { v: 2 } });
    const plan = await planOf(bench, { 'a/1': { v: 3 }, 'a/2': { v: 1 } });
    assert.deepEqual(plan.Unknown, ['a/1']);
    assert.deepEqual(lines(plan), ['CREATE a/2 CONFIGURED: changed']);
  });

  it('shows what follows when a key becomes free that another value derives, too', async () => {
    const bench = setUp({ window: 1 });
    const derives = { 'd/x': { v: 1 } };
    await bench.commit({ 'a/1': { v: 1, derives }, 'b/1': { v: 1, needs: ['d/x'] } });
    await bench.commit({ 'a/2': { v: 1, derives: { ...derives, 'd/y': { v: 1 } } } });
    await bench.commit({ 'a/3': { v: 1, derives: { 'd/y': { v: 1 } } } });
    const before = await pictureOf(bench);
    const plan = await planOf(bench, { 'a/1': null });
    assert.deepEqual(lines(plan), [
      'DELETE b/1 PENDING: dependency lost: d/x',
      'DELETE d/x REMOVED: derived from a/1',
      'DELETE a/1 REMOVED: changed',
      'CREATE d/x CONFIGURED: derived from a/2',
      'CREATE b/1 CONFIGURED: dependency met: d/x',
    ]);
    assert.equal(await pictureOf(bench), before);
    await bench.commit({ 'a/1': null });
    assert.deepEqual(plan.Operations, bench.lastRecord().Executed);
    // the key moves from one base to another in the change itself
    const moves = { 'a/2': { v: 2 }, 'a/4': { v: 1, derives } };
    assert.deepEqual(lines(await planOf(bench, moves)).slice(-3), [
      'CREATE d/y CONFIGURED: derived from a/3',
      'CREATE d/x CONFIGURED: derived from a/4',
      'CREATE b/1 CONFIGURED: dependency met: d/x',
    ]);
  });

  it('rejects malformed requests', async () => {
    const bench = setUp();
    await assert.rejects(planOf(bench, { 'a/1': null }, 'resync'), {
      code: 'CV_SCHED_INVALID_TXN',
    });
    await assert.rejects(planOf(bench, { '': { v: 1 } }), { code: 'CV_SCHED_INVALID_TXN' });
    await bench.scheduler.close();
    await assert.rejects(planOf(bench, { 'a/1': { v: 1 } }), { code: 'CV_SCHED_CLOSED' });
  });

  it('sees the graph as it is when the transactions before it are done', async () => {
    const bench = setUp();
    bench.southbound.replies = 'turn';
    const committed = bench.commit({ 'a/1': { v: 1 } });
    const plan = await planOf(bench, { 'a/1': { v: 2 } });
    assert.deepEqual(lines(plan), ['UPDATE a/1 CONFIGURED: changed']);
    await committed;
  });

  it('executes nothing, and equals the operations of the later change', async ({ name }) => {
    await checkProperty(
      { file: 'test/kvscheduler/planner/preview.test.ts', name },
      100,
      fc.asyncProperty(scripts({ wild: true, conflicts: true }, 6), async (script) => {
        const bench = setUp({ window: 1 });
        for (const step of script) {
          if (step.kind !== 'commit') continue;
          const before = await pictureOf(bench);
          const isUpdate = step.mode === 'update';
          const plan = await planOf(bench, step.desired, isUpdate ? 'update' : 'resync');
          assert.equal(await pictureOf(bench), before);
          await bench.commit(step.desired, { mode: isUpdate ? 'update' : 'upstream-resync' });
          const json = (operations: readonly RecordedTxnOp[] = []) => JSON.stringify(operations);
          assert.equal(json(plan.Operations), json(bench.lastRecord().Planned));
        }
      }),
    );
  });

  it('equals what the later change executes, also if values derive the same keys', async ({
    name,
  }) => {
    await checkProperty(
      { file: 'test/kvscheduler/planner/preview.test.ts', name },
      150,
      fc.asyncProperty(fc.array(changes, { maxLength: 8 }), async (script) => {
        const bench = setUp({ window: 1 });
        bench.southbound.checksRules = false;
        for (const { isWhole, desired, failing } of script) {
          bench.southbound.fails = (_, key) =>
            failing.includes(key) ? new Error('no') : undefined;
          const before = await pictureOf(bench);
          const plan = await planOf(bench, desired, isWhole ? 'resync' : 'update');
          assert.equal(await pictureOf(bench), before);
          await bench.commit(desired, { mode: isWhole ? 'upstream-resync' : 'update' });
          const { Executed = [] } = bench.lastRecord();
          if (failing.length > 0) continue;
          assert.equal(JSON.stringify(plan.Operations), JSON.stringify(Executed));
        }
      }),
    );
  });
});
