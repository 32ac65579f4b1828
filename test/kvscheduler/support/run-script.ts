/** Runs a random script on a scheduler and records what can be compared. */
import assert from 'node:assert/strict';
import { seededRandom } from '#infra/clock/manual.ts';
import type { RetryPolicy } from '#kvscheduler/api/transaction.ts';
import type { RecordedTxn } from '#kvscheduler/history/record.ts';
import type { SchedulerOptions } from '#kvscheduler/scheduler.ts';
import { type DescriptorVariants, withVariants } from './descriptor-variants.ts';
import { effectiveValues, expectedState, lastValidDerived } from './model.ts';
import { type Faults, type Step, unmanagedKeys } from './scripts.ts';
import { type Bench, pass, setUp, stateText } from './setup.ts';
import {
  baseOf,
  dependenciesOf,
  identity,
  names,
  type Southbound,
  type Spec,
} from './southbound.ts';
import { TimeoutError } from './timeout-error.ts';

export interface ScriptResult {
  readonly bench: Bench;
  /** Records without times, a line for each operation. */
  readonly records: string[];
  readonly pictures: string[];
}

export interface RunOptions {
  readonly window: number;
  /** Absent: the usual descriptors. */
  readonly variants?: DescriptorVariants;
  /** Seed that shuffles the order of replies; undefined: replies come at once. */
  readonly shuffle?: number;
  /** The state is compared with the model, which does not end for every wild script. */
  readonly modeled?: boolean;
  /** Two values may have one claim. */
  readonly conflicts?: boolean;
  readonly faults?: Faults;
  readonly options?: Partial<SchedulerOptions>;
  /** Milliseconds of virtual time after every step. */
  readonly pause?: number;
  /** For every commit. */
  readonly retry?: RetryPolicy;
  /** Called after every step. */
  readonly check?: (bench: Bench, before: ReadonlyMap<string, Spec>, failures: string[]) => void;
}

export async function runScript(
  script: readonly Step[],
  options: RunOptions,
): Promise<ScriptResult> {
  const { window, variants: kinds } = options;
  const bench = setUp({ window, ...options.options }, kinds && withVariants(kinds));
  const { southbound, scheduler } = bench;
  if (options.shuffle !== undefined) southbound.replies = seededRandom(options.shuffle);
  const played: ScriptResult = { bench, records: [], pictures: [] };
  for (const step of script) {
    injectFaults(bench, options.faults);
    const before = southbound.desired;
    const failures = await runStep(bench, step, options);
    const calls = southbound.takeCalls();
    played.pictures.push(JSON.stringify(southbound.contents()));
    assert.deepEqual(southbound.violations, [], JSON.stringify(calls));
    options.check?.(bench, before, failures);
    noteLastValid(bench, options.modeled ?? false);
    if (options.pause !== undefined) await pass(bench, options.pause, options.pause / 10);
  }
  played.records.push(...scheduler.history().flatMap(withoutTimes));
  assert.ok(southbound.mostInFlight <= options.window);
  return played;
}

function noteLastValid(bench: Bench, isModeled: boolean): void {
  const { southbound } = bench;
  const { desired, snapshot, lastValid } = southbound;
  if (!isModeled) {
    southbound.addDerivedValid();
    return;
  }
  southbound.derivedValid = lastValidDerived(desired, unmanagedOf(bench), snapshot, lastValid);
}

async function runStep(
  bench: Bench,
  step: Step,
  { conflicts = false, faults, retry }: RunOptions,
): Promise<string[]> {
  const retryOption = retry && { retry };
  const blind = (faults?.blind.length ?? 0) > 0;
  const { southbound, scheduler } = bench;
  switch (step.kind) {
    case 'commit': {
      const desired = conflicts ? step.desired : desiredWithoutConflicts(southbound, step);
      const onFailure = step.revert ? 'revert' : 'best-effort';
      const before = southbound.desired;
      // Values that cannot be read are assumed to be in sync: nothing could reconcile them.
      if (step.mode === 'full-resync' && !blind) loseSome(bench, step.lost ?? []);
      southbound.takeSnapshot();
      const failures = await bench.commit(desired, { mode: step.mode, onFailure, ...retryOption });
      if (step.revert && failures.length > 0) southbound.desired = before;
      return failures;
    }
    case 'downstream':
      southbound.takeSnapshot();
      return bench.commit({}, { mode: 'downstream-resync', ...retryOption });
    case 'report': {
      const pairs = Object.entries(step.reports).map(([key, value]) => ({ key, value }));
      for (const { key, value } of pairs) southbound.changeExternally(key, value);
      southbound.takeSnapshot();
      scheduler.pushNotification(pairs);
      // A notification has no answer: wait for a task that is queued after it.
      await scheduler.dump('SB', { descriptor: 'alpha' }).catch(() => undefined);
      return [];
    }
    case 'drift': {
      // Values that cannot be read are assumed to be in sync: nothing could reconcile them.
      if (blind) return [];
      const managedValues = loseSome(bench, step.lost);
      for (const n of step.wrong) {
        const [key, stored] = managedValues[n % managedValues.length] ?? [];
        if (key === undefined || !stored || !southbound.values.has(key)) continue;
        southbound.values.set(key, { managed: true, spec: { ...stored.spec, v: 9 } });
      }
      for (const { path, ...leftover } of step.leftovers)
        southbound.leftovers.set(path, { what: 'left by a crash', ...leftover });
      southbound.takeSnapshot();
      return bench.commit({}, { mode: 'downstream-resync', ...retryOption });
    }
  }
}

/** @returns the managed base values as they were before some of them were lost */
function loseSome(bench: Bench, which: readonly number[]) {
  const managedValues = [...bench.southbound.values]
    .filter(([key, { managed: own }]) => own && baseOf(key) === undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  for (const n of which) {
    const lost = managedValues[n % managedValues.length];
    if (lost) lose(bench, lost[0]);
  }
  return managedValues;
}

/** The southbound loses a value and its derived values. */
function lose({ southbound }: Bench, key: string): void {
  for (const own of [...southbound.values.keys()])
    if (own === key || baseOf(own) === key) southbound.values.delete(own);
}

/** The desired values of the step, without claims that other values have. */
export function desiredWithoutConflicts(
  { desired, lastValid }: Southbound,
  step: Extract<Step, { kind: 'commit' }>,
): Record<string, Spec | null> {
  const isKept = (key: string) => step.mode === 'update' && !(key in step.desired);
  const stays = (key: string, spec: Spec | null | undefined) =>
    spec?.invalid ? lastValid.get(key) : isKept(key) ? spec : undefined;
  const staying = [...desired].map(([key, spec]) => stays(key, step.desired[key] ?? spec));
  const taken = new Set(staying.flatMap((spec) => spec?.claims ?? []));
  return Object.fromEntries(
    Object.entries(step.desired).map(([key, spec]) => {
      if (!spec?.claims) return [key, spec];
      if (spec.invalid) return [key, { ...spec, claims: [] }];
      const claims = spec.claims.filter((name) => !taken.has(name));
      for (const name of claims) taken.add(name);
      return [key, { ...spec, claims }];
    }),
  );
}

function injectFaults({ southbound }: Bench, faults: Faults | undefined): void {
  if (!faults) return;
  const left = new Map(Object.entries(faults.failing));
  southbound.fails = (verb, key) => {
    const name = `${verb} ${key}`;
    const times = left.get(name) ?? 0;
    left.set(name, times - 1);
    return times > 0 ? new Error(`no ${name}`) : undefined;
  };
  southbound.losesReply = (verb, key) => {
    const name = `${verb} ${key}`;
    if (faults.losing.includes(name)) return new TimeoutError('timeout');
    const isBotched = faults.botching?.includes(name) && faults.blind.length === 0;
    return isBotched ? new Error(`half of ${name}`) : undefined;
  };
  southbound.retrieveFails = (name) =>
    faults.blind.includes(name) ? new Error(`cannot read ${name}`) : undefined;
}

export function clearFaults({ southbound }: Bench): void {
  southbound.fails = () => undefined;
  southbound.losesReply = () => undefined;
  southbound.retrieveFails = () => undefined;
}

function withoutTimes(record: RecordedTxn): string[] {
  const { Planned = [], Executed = [], ...head } = record;
  const lines = [{ ...head, Start: '', Stop: '' }, ...Planned, 'executed', ...Executed];
  return lines.map((line) => JSON.stringify(line));
}

export function unmanagedOf({ southbound }: Bench): Set<string> {
  return new Set(unmanagedKeys.filter((key) => southbound.values.has(key)));
}

/** Log messages except for those about failed values. */
export function loggedProblems({ logged }: Bench): string[] {
  return logged.map(({ text }) => text).filter((text) => text !== 'values failed');
}

/**
 * With failures: all operations that no failure blocks are done. A desired value with met
 * dependencies is configured, unless it, its base or a dependent failed; an actual value is desired,
 * with the same exceptions. There are no retries here: a value that failed once stays an exception.
 * @param broken keys of what has failed so far; grows
 */
export function assertNothingLeftUndone(bench: Bench, broken: Set<string>): void {
  const { southbound, scheduler } = bench;
  const states = new Map<string, string>();
  for (const { value, derived_values = [] } of scheduler.statuses())
    for (const { key, state } of [value, ...derived_values]) states.set(key, state);
  for (const [key, state] of states)
    if (state === 'FAILED' || state === 'RETRYING') broken.add(key);
  const desired = new Map<string, Spec>();
  for (const [key, spec] of effectiveValues(southbound.desired, southbound.lastValid)) {
    desired.set(key, spec);
    for (const [own, derived] of Object.entries(spec.derives ?? {})) desired.set(own, derived);
  }
  const blocked = blockedBy(bench, broken, desired);
  for (const [key, spec] of desired) {
    const state = states.get(key);
    if (key.startsWith('p/') || blocked.has(key) || state !== 'CONFIGURED') continue;
    const stored = southbound.values.get(key);
    assert.equal(stored && identity(stored.spec), identity(spec), key);
  }
  for (const [key, { managed: managedValues }] of southbound.values) {
    if (!managedValues || blocked.has(key)) continue;
    const state = southbound.lastValid.has(key) ? 'INVALID' : 'CONFIGURED';
    if (states.get(key) !== 'CONFIGURED') assert.equal(states.get(key), state, key);
  }
  for (const { value, derived_values = [] } of scheduler.statuses())
    for (const { key, state, details = [] } of [value, ...derived_values])
      if (state === 'PENDING')
        assert.notEqual(details.length, 0, `${key} is pending without a reason`);
}

/** Failed values and all values that they may block. */
function blockedBy(
  { southbound }: Bench,
  broken: ReadonlySet<string>,
  desired: ReadonlyMap<string, Spec>,
): Set<string> {
  const blocked = new Set(broken);
  const relatives = (key: string): string[] => {
    const base = baseOf(key);
    const specs = [southbound.values.get(key)?.spec, desired.get(key)];
    const others = [...southbound.values.keys(), ...desired.keys()];
    const needed = specs.flatMap((spec) => (spec ? dependenciesOf(spec) : []));
    const near = others.filter(
      (other) => baseOf(other) === key || needed.some((one) => names(one, other)),
    );
    // Properties do not exist by themselves.
    for (const { key: needs } of needed) if (needs !== undefined) near.push(needs);
    return base === undefined ? near : [...near, base];
  };
  for (const key of blocked) for (const near of relatives(key)) blocked.add(near);
  return blocked;
}

/** Compares southbound and status with the model. */
export function assertAsExpected(bench: Bench): void {
  const { southbound, scheduler } = bench;
  const { desired, snapshot: seen, lastValid } = southbound;
  const { states, existing } = expectedState(desired, unmanagedOf(bench), seen, lastValid);
  const managed: Record<string, string> = {};
  for (const [key, { spec, managed: own }] of southbound.values)
    if (own) managed[key] = identity(spec);
  const wanted: Record<string, string> = {};
  for (const [key, spec] of existing) if (!key.startsWith('p/')) wanted[key] = identity(spec);
  assert.deepEqual(sorted(managed), sorted(wanted));
  const shown: Record<string, string> = {};
  for (const { value, derived_values = [] } of scheduler.statuses())
    for (const status of [value, ...derived_values])
      if (status.state !== 'OBTAINED') shown[status.key] = stateText(status);
  assert.deepEqual(sorted(shown), sorted(Object.fromEntries(states)));
}

function sorted(record: Record<string, string>): [string, string][] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Neither a downstream resync nor setting the same values again executes anything. */
export async function assertNothingToDo(bench: Bench): Promise<void> {
  assert.deepEqual(await bench.calls({}, { mode: 'downstream-resync' }), []);
  assert.deepEqual(bench.lastRecord().Executed, undefined);
  const desired = Object.fromEntries(bench.southbound.desired);
  for (const mode of ['upstream-resync', 'full-resync'] as const) {
    assert.deepEqual(await bench.calls(desired, { mode }), []);
    assert.deepEqual(bench.lastRecord().Executed, undefined);
  }
}
