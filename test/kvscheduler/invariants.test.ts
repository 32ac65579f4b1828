/** Invariants of the scheduler after any random script. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { Slices } from '#infra/clock/slices.ts';
import type { RetryPolicy } from '#kvscheduler/api/transaction.ts';
import { snapshot } from '#kvscheduler/history/timeline/queries.ts';
import { checkProperty, singleCasePath } from '#test/support/random-cases.ts';
import { clearFaults, desiredWithoutConflicts, runScript } from './support/run-script.ts';
import { faults, scripts } from './support/scripts.ts';
import { type Bench, pass, setDesired } from './support/setup.ts';
import { baseOf, dependenciesOf, identity, type Spec } from './support/southbound.ts';
import { TimeoutError } from './support/timeout-error.ts';

const FILE = 'test/kvscheduler/invariants.test.ts';
const windows = fc.constantFrom(1, 3, 100);

/** Every value with its state and its unmet dependencies, without the last operation. */
function states({ scheduler }: Bench): string[] {
  return scheduler
    .statuses()
    .flatMap(({ value, derived_values = [] }) => [value, ...derived_values])
    .map(({ key, state, details = [] }) => `${key} ${state} ${details.join(' ')}`);
}

test('an all-or-nothing transaction is undone completely when one of its calls fails', async ({
  name,
}) => {
  let undone = 0;
  await checkProperty(
    { file: FILE, name },
    250,
    fc.asyncProperty(
      scripts({ wild: true }, 4),
      scripts({ wild: true }, 1),
      fc.nat(8),
      fc.constantFrom('refuses', 'destroys', 'loses the reply'),
      windows,
      async (script, [last], nth, how, window) => {
        if (last?.kind !== 'commit') return;
        const { bench } = await runScript(script, { window, conflicts: true });
        const { southbound } = bench;
        await bench.commit({}, { mode: 'downstream-resync' });
        const before = { picture: southbound.contents(), states: states(bench) };
        let calls = 0;
        southbound.fails = (verb, key) => {
          if (calls++ !== nth || how === 'loses the reply') return undefined;
          const stored = southbound.values.get(key);
          if (how === 'destroys' && verb === 'UPDATE' && stored)
            southbound.values.set(key, { ...stored, spec: { ...stored.spec, v: 9 } });
          return new Error('no');
        };
        southbound.losesReply = () =>
          how === 'loses the reply' && calls === nth + 1 ? new TimeoutError('timeout') : undefined;
        const failures = await commitAccepted(bench, last.desired, () => calls);
        if (failures.length === 0) return;
        if (calls > 0) undone++;
        clearFaults(bench);
        assert.deepEqual({ picture: southbound.contents(), states: states(bench) }, before);
        assert.deepEqual(southbound.violations, []);
        assert.deepEqual(await bench.calls({}, { mode: 'downstream-resync' }), []);
      },
    ),
  );
  assert.ok(undone > 0 || singleCasePath !== undefined, `${undone} were undone`);
});

test('retries restore values that an undo cannot restore', async ({ name }) => {
  const retry = { periodMs: 100, maxAttempts: 0, exponential: false };
  await checkProperty(
    { file: FILE, name },
    150,
    fc.asyncProperty(
      scripts({ wild: false, conflicts: false }, 4),
      scripts({ wild: false, conflicts: false }, 1),
      fc.nat(8),
      fc.integer({ min: 2, max: 5 }),
      windows,
      async (script, [last], nth, count, window) => {
        if (last?.kind !== 'commit') return;
        const { bench } = await runScript(script, { window, retry });
        const { southbound } = bench;
        await bench.commit({}, { mode: 'downstream-resync', retry });
        const before = { picture: southbound.contents(), states: states(bench) };
        let calls = 0;
        southbound.fails = () => {
          const at = calls++;
          return at >= nth && at < nth + count ? new Error('no') : undefined;
        };
        const desired = desiredWithoutConflicts(southbound, last);
        const failures = await commitAccepted(bench, desired, () => calls, retry);
        if (failures.length === 0) return;
        clearFaults(bench);
        await pass(bench, 500, 50);
        assert.deepEqual({ picture: southbound.contents(), states: states(bench) }, before);
        assert.deepEqual(southbound.violations, []);
        assert.deepEqual(await bench.calls({}, { mode: 'downstream-resync' }), []);
      },
    ),
  );
});

/** Commits without the values that are rejected before the first operation. */
async function commitAccepted(
  bench: Bench,
  desired: Readonly<Record<string, Spec | null>>,
  calls: () => number,
  retry?: RetryPolicy,
): Promise<string[]> {
  const { southbound, scheduler } = bench;
  const left = new Map(Object.entries(desired));
  for (;;) {
    southbound.takeSnapshot();
    setDesired(southbound, 'update', left, 'revert');
    const { failures } = await scheduler.commit({
      description: 'all or nothing',
      mode: 'update',
      onFailure: 'revert',
      values: left,
      ...(retry && { retry }),
    });
    if (failures.length > 0) southbound.desired = southbound.former;
    if (failures.length === 0 || calls() > 0) return failures.map(({ key }) => key);
    const before = left.size;
    for (const { key, base = key } of failures) left.delete(base);
    assert.ok(left.size < before, failures.map(({ key }) => key).join());
  }
}

test('the graph has the dependencies of each value', async ({ name }) => {
  await checkProperty(
    { file: FILE, name },
    100,
    fc.asyncProperty(
      scripts({ wild: true }, 6),
      faults,
      windows,
      async (script, injected, window) => {
        const { bench } = await runScript(script, { window, conflicts: true, faults: injected });
        await assertRelationsKnown(bench);
        clearFaults(bench);
        await bench.commit({}, { mode: 'downstream-resync' });
        await assertRelationsKnown(bench);
      },
    ),
  );
});

async function assertRelationsKnown({ scheduler, southbound, clock }: Bench): Promise<void> {
  const { timeline } = scheduler;
  const desired = new Map<string, Spec>();
  for (const [key, spec] of southbound.desired) {
    desired.set(key, spec);
    for (const [own, derived] of Object.entries(spec.derives ?? {})) desired.set(own, derived);
  }
  const isInSync = (key: string): boolean => {
    const actual = southbound.values.get(key)?.spec;
    const target = desired.get(key);
    return !actual || (target !== undefined && identity(actual) === identity(target));
  };
  for (const { Key, Flags, Targets } of await snapshot(timeline, timeline.now, new Slices(clock))) {
    const state = Flags['value-state'];
    const spec = desired.get(Key);
    if (!spec || (state !== 'CONFIGURED' && state !== 'PENDING')) continue;
    // Of a value that is not in the desired state, the graph has the actual relations.
    if (!isInSync(Key) || !isInSync(baseOf(Key) ?? Key)) continue;
    const known = Targets.filter(({ Relation }) => Relation === 'depends-on');
    assert.deepEqual(
      known.map(({ Label }) => Label).sort(),
      dependenciesOf(spec)
        .map(({ label }) => label)
        .sort(),
      Key,
    );
  }
}

test('no value waits for a claim without a holder', async ({ name }) => {
  await checkProperty(
    { file: FILE, name },
    150,
    fc.asyncProperty(scripts({ wild: true }, 6), windows, async (script, window) => {
      const check = (bench: Bench) => {
        const waiting = states(bench).filter((line) => / PENDING claim \w+$/.test(line));
        assert.deepEqual(waiting, []);
      };
      await runScript(script, { window, conflicts: true, check });
    }),
  );
});

/** Values in the state RETRYING have a timer, and no other values have one. */
function assertTimers({ scheduler, clock }: Bench): void {
  const retrying = scheduler
    .statuses()
    .filter(({ value, derived_values = [] }) =>
      [value, ...derived_values].some(({ state }) => state === 'RETRYING'),
    );
  assert.ok(clock.pending <= retrying.length, `${clock.pending} timers`);
  if (clock.pending === 0) assert.deepEqual(retrying, []);
}

test('the number of retries and of waiting retries is limited', async ({ name }) => {
  const policy = fc.record({
    periodMs: fc.integer({ min: 1, max: 300 }),
    maxAttempts: fc.integer({ min: 1, max: 3 }),
    exponential: fc.boolean(),
  });
  await checkProperty(
    { file: FILE, name },
    100,
    fc.asyncProperty(
      scripts({ wild: true }, 5),
      faults,
      fc.array(policy, { minLength: 5, maxLength: 5 }),
      windows,
      async (script, { failing }, policies, window) => {
        const forever = Object.fromEntries(Object.keys(failing).map((name) => [name, 1e9]));
        const injected = { failing: forever, losing: [], blind: [] };
        const { bench } = await runScript(script.slice(0, 1), {
          window,
          conflicts: true,
          faults: injected,
        });
        const { southbound, clock } = bench;
        const refuse = southbound.fails;
        const refused = new Map<string, number>();
        southbound.fails = (verb, key, spec) => {
          const error = refuse(verb, key, spec);
          if (error) refused.set(`${verb} ${key}`, (refused.get(`${verb} ${key}`) ?? 0) + 1);
          return error;
        };
        for (const [index, step] of script.entries()) {
          if (step.kind !== 'commit') continue;
          const { mode, desired, revert } = step;
          const retry = policies[index];
          const onFailure = revert ? 'revert' : 'best-effort';
          const { desired: before } = southbound;
          const failures = await bench.commit(desired, {
            mode,
            onFailure,
            ...(retry && { retry }),
          });
          if (revert && failures.length > 0) southbound.desired = before;
          refused.clear();
          for (let i = 0; i < 10; i++) {
            await pass(bench, 15);
            assertTimers(bench);
          }
        }
        const before = bench.scheduler.history().length;
        await pass(bench, 20_000, 100);
        assert.equal(clock.pending, 0);
        for (const [call, times] of refused) assert.ok(times <= 3, `${call} ${times} times`);
        const retries = bench.scheduler.history().length - before;
        const values = bench.scheduler.statuses().length;
        assert.ok(retries <= 3 * (values + 5), `${retries} retries of ${values} values`);
        const retrying = states(bench).filter((line) => line.includes('RETRYING'));
        assert.deepEqual(retrying, []);
      },
    ),
  );
});
