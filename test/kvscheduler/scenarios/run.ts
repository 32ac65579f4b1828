/**
 * Plays a scenario and holds what is seen against what is written. Besides that it checks after
 * every step what needs no words, because it follows from the rest: that the southbound was asked
 * for what is recorded and for nothing else, that metadata and all three views show what stands
 * and what is wished, and in the end that there is nothing to repair.
 */
import assert from 'node:assert/strict';
import type { RetryPolicy, TransactionRequest } from '#eventloop/transaction.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { RecordedTxn, RecordedTxnOp } from '#kvscheduler/record.ts';
import { createScheduler, type Scheduler } from '#kvscheduler/scheduler.ts';
import type { Deed, Expectation, MockDescriptor, Scenario, Step, Values } from './format.ts';
import {
  argumentText,
  canonical,
  operationText,
  originText,
  statusText,
  valueText,
} from './notation.ts';
import { ScenarioSouthbound } from './southbound.ts';

export async function runScenario(scenario: Scenario, window: number): Promise<void> {
  const stage = new Stage(scenario, window);
  for (const step of scenario.steps) await stage.play(step);
  await stage.end();
}

class Stage {
  readonly #clock = new ManualClock();
  readonly #southbound: ScenarioSouthbound;
  readonly #scheduler: Scheduler;
  readonly #descriptors: readonly MockDescriptor[];
  readonly #serial: boolean;
  /** What the northbound wants. */
  readonly #wished = new Map<string, object>();
  #records = 0;

  constructor({ descriptors, before = {} }: Scenario, window: number) {
    this.#serial = window === 1;
    this.#descriptors = descriptors;
    this.#southbound = new ScenarioSouthbound(this.#clock, !this.#serial);
    this.#southbound.happens(before);
    this.#scheduler = createScheduler({
      descriptors: descriptors.map((one) => this.#southbound.descriptor(one)),
      clock: this.#clock,
      log: silentLogger,
      window,
    });
  }

  async play({ title, happens = {}, fails = [], does, expect }: Step): Promise<void> {
    this.#southbound.happens(happens);
    this.#southbound.fails(fails);
    const failures = await this.#do(does);
    await this.#settle();
    const { failures: expected = [], retrieves = [], content, status } = expect;
    assert.deepEqual(failures, expected, `${title}: failures`);
    this.#checkRecord(title, does, expect);
    assert.deepEqual(this.#southbound.retrieves.splice(0), retrieves, `${title}: retrieves`);
    assert.deepEqual(this.#southbound.content(), content, `${title}: southbound`);
    assert.deepEqual(this.#statuses(), status, `${title}: status`);
    assert.deepEqual(this.#southbound.unmet, [], `${title}: planned failures`);
    assert.deepEqual(this.#southbound.problems, [], `${title}: problems`);
    for (const descriptor of this.#descriptors) {
      this.#checkMetadata(title, descriptor);
      await this.#checkViews(title, descriptor);
    }
    this.#southbound.retrieves.length = 0;
  }

  /** What has not failed for good stands as it is wished. */
  async end(): Promise<void> {
    const { failures, seqNum } = await this.#scheduler.resyncDownstream({ verbose: false });
    assert.deepEqual(failures, []);
    if (!Object.values(this.#statuses()).some((text) => text.startsWith('FAILED')))
      assert.deepEqual(this.#scheduler.record(seqNum)?.Executed, undefined);
    await this.#scheduler.close();
  }

  async #do(deed: Deed): Promise<string[]> {
    if ('pass' in deed) {
      await this.#clock.advance(deed.pass);
      return [];
    }
    if ('notify' in deed) {
      this.#southbound.happens(deed.notify);
      const pairs = Object.entries(deed.notify).map(([key, standing]) => ({
        key,
        value: standing && canonical(standing.value),
        metadata: standing?.number,
      }));
      this.#scheduler.pushNotification(pairs);
      return [];
    }
    const { failures } = await this.#commit(deed);
    return failures.map(({ key, operation, error }) => `${key} (${operation}): ${error.message}`);
  }

  async #commit(deed: Exclude<Deed, { pass: number } | { notify: unknown }>) {
    const { retry } = deed;
    if ('resync' in deed && deed.resync === 'downstream')
      return this.#scheduler.resyncDownstream({ verbose: false, ...(retry && { retry }) });
    const request = requestOf(deed);
    const result = await this.#scheduler.commit(request);
    if (request.onFailure === 'revert' && result.failures.length > 0) return result;
    if (request.mode !== 'update') this.#wished.clear();
    for (const [key, value] of request.values)
      if (value) this.#wished.set(key, value);
      else this.#wished.delete(key);
    return result;
  }

  /** Until nothing moves any more. */
  async #settle(): Promise<void> {
    for (let quiet = 0; quiet < 20; quiet++) {
      await this.#clock.turn();
      const { queueLength, inFlight } = this.#scheduler.load;
      if (queueLength + inFlight > 0) quiet = 0;
    }
  }

  #checkRecord(title: string, does: Deed, { record: expected }: Expectation): void {
    const [record, ...others] = this.#scheduler.history().slice(this.#records);
    const calls = this.#southbound.calls.splice(0);
    assert.deepEqual(others, [], `${title}: one record`);
    if (!expected) {
      assert.equal(record, undefined, `${title}: no record`);
      assert.deepEqual(calls, [], `${title}: calls`);
      return;
    }
    assert.ok(record, `${title}: a record`);
    this.#records++;
    assert.deepEqual(headOf(record), expectedHead(does, this.#records - 1, expected.retry), title);
    const { values, executed, planned = executed } = expected;
    assert.deepEqual((record.Values ?? []).map(argumentText), values, `${title}: values`);
    assert.deepEqual((record.Planned ?? []).map(operationText), planned, `${title}: planned`);
    assert.deepEqual((record.Executed ?? []).map(operationText), executed, `${title}: executed`);
    const recorded = (record.Executed ?? []).filter(isAsked).map(callOf);
    assert.deepEqual(this.#ordered(calls), this.#ordered(recorded), `${title}: calls`);
  }

  /** Only one at a time are the calls in the order of the records. */
  #ordered(calls: readonly string[]): readonly string[] {
    return this.#serial ? calls : [...calls].sort();
  }

  #statuses(): Record<string, string> {
    const statuses: Record<string, string> = {};
    for (const { value, derived_values = [] } of this.#scheduler.statuses())
      for (const one of [value, ...derived_values]) statuses[one.key] = statusText(one);
    return statuses;
  }

  #checkMetadata(title: string, { name, prefix }: MockDescriptor): void {
    const map = this.#scheduler.metadataMap<number>(name);
    assert.ok(map);
    const shown = map.listAllNames().map((label) => [label, map.getValue(label)]);
    const standing = [...this.#southbound.bases(prefix)]
      .filter(([, { number }]) => number !== undefined)
      .map(([key, { number }]) => [key.slice(prefix.length), number]);
    assert.deepEqual(shown.sort(), standing.sort(), `${title}: metadata of ${name}`);
  }

  async #checkViews(title: string, { name, prefix, blind }: MockDescriptor): Promise<void> {
    const wished = [...this.#wished]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, value]) => `${key} ${valueText(value)} from-NB`);
    const standing = [...this.#southbound.bases(prefix)].map(
      ([key, { value, number, foreign }]) =>
        `${key} ${valueText(value)} from-${foreign ? 'SB' : 'NB'} #${number}`,
    );
    for (const selector of [{ descriptor: name }, { keyPrefix: prefix }]) {
      const dump = async (view: 'NB' | 'SB' | 'cached') =>
        (await this.#scheduler.dump(view, selector)).map(
          ({ Key, Value, Origin, Metadata }) =>
            `${Key} ${valueText(Value.value)} ${originText(Origin)}${view === 'NB' ? '' : ` #${Metadata}`}`,
        );
      assert.deepEqual((await dump('NB')).sort(), wished.sort(), `${title}: NB view of ${name}`);
      const cached = await dump('cached');
      assert.deepEqual(cached.sort(), standing.sort(), `${title}: cached view of ${name}`);
      if (blind) await assert.rejects(dump('SB'), /does not support Retrieve/);
      else assert.deepEqual((await dump('SB')).sort(), standing, `${title}: SB view of ${name}`);
    }
  }
}

function requestOf(deed: {
  readonly commit?: Values;
  readonly resync?: Values | 'downstream';
  readonly mode?: 'full-resync' | 'upstream-resync';
  readonly revert?: true;
  readonly retry?: RetryPolicy;
  readonly description?: string;
}): TransactionRequest {
  const { commit = {}, resync, mode = 'update', revert, retry, description = '' } = deed;
  const values = typeof resync === 'object' ? resync : commit;
  return {
    description,
    mode,
    onFailure: revert ? 'revert' : 'best-effort',
    values: new Map(
      Object.entries(values).map(([key, value]) => [key, value === null ? null : canonical(value)]),
    ),
    ...(retry && { retry }),
  };
}

function headOf(record: RecordedTxn): object {
  const { Start, Stop, Planned: _p, Executed: _e, Values: _v, ...head } = record;
  assert.match(Start, /^2026-01-01T/);
  assert.ok(Start <= Stop);
  return head;
}

const resyncTypes = { 'full-resync': 'FullResync', 'upstream-resync': 'UpstreamResync' } as const;

function expectedHead(
  deed: Deed,
  SeqNum: number,
  retry: { readonly of: number; readonly attempt: number } | undefined,
): object {
  const head = { WithSimulation: true, SeqNum };
  if ('pass' in deed)
    return {
      ...head,
      TxnType: 'RetryFailedOps',
      RetryForTxn: retry?.of,
      RetryAttempt: retry?.attempt,
    };
  if ('notify' in deed) return { ...head, TxnType: 'SBNotification' };
  const nb = { ...head, TxnType: 'NBTransaction' };
  if ('resync' in deed && deed.resync === 'downstream')
    return { ...nb, ResyncType: 'DownstreamResync', Description: 'on demand' };
  return {
    ...nb,
    ...('mode' in deed && { ResyncType: resyncTypes[deed.mode] }),
    ...('description' in deed && { Description: deed.description }),
  };
}

/** Whether the southbound had to do with it. */
function isAsked({ NOOP, IsProperty, NewState, PrevState }: RecordedTxnOp): boolean {
  return !NOOP && !IsProperty && NewState !== 'OBTAINED' && PrevState !== 'OBTAINED';
}

function callOf({ Operation, Key }: RecordedTxnOp): string {
  return `${Operation} ${Key}`;
}
