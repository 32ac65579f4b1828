/**
 * Runs a scenario and compares the results with the expected ones. After every step it also checks
 * what follows from these: the southbound got exactly the recorded operations, metadata and all
 * three views show the actual and the desired values, and the graph has an edge for each relation.
 * In the end a resync has nothing to reconcile.
 */
import assert from 'node:assert/strict';
import { flagNames } from '#documents/scheduler/timeline.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import { Slices } from '#infra/clock/slices.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { TransactionRequest } from '#kvscheduler/api/transaction.ts';
import type { RecordedTxn, RecordedTxnOp } from '#kvscheduler/history/record.ts';
import { flagStats, snapshot } from '#kvscheduler/history/timeline/queries.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import type { Replies } from '../support/replies.ts';
import { Checks } from './checks.ts';
import type { Expectation, MockDescriptor, Scenario, Step, StepAction } from './format.ts';
import {
  argumentText,
  type Canonical,
  canonical,
  operationText,
  originText,
  statusText,
  valueText,
} from './notation.ts';
import { dependenciesOf, labelOf, ScenarioSouthbound } from './southbound.ts';

export interface RunOptions {
  /** Operations in flight at once. */
  readonly window: number;
  readonly replies: Replies;
}

/** @returns the number of compared facts */
export async function runScenario(scenario: Scenario, options: RunOptions): Promise<number> {
  const runner = new ScenarioRunner(scenario, options);
  for (const step of scenario.steps) await runner.run(step);
  return runner.end();
}

class ScenarioRunner {
  readonly #clock = new ManualClock();
  readonly #checks = new Checks();
  readonly #southbound: ScenarioSouthbound;
  readonly #scheduler: Scheduler;
  readonly #descriptors: readonly MockDescriptor[];
  readonly #serial: boolean;
  readonly #desired = new Map<string, Canonical>();
  #steps = 0;

  constructor({ descriptors, before = {} }: Scenario, { window, replies }: RunOptions) {
    this.#serial = window === 1;
    this.#descriptors = descriptors;
    this.#southbound = new ScenarioSouthbound(replies);
    this.#southbound.apply(before);
    this.#scheduler = createScheduler({
      descriptors: descriptors.map((one) => this.#southbound.descriptor(one)),
      clock: this.#clock,
      log: silentLogger,
      window,
    });
  }

  async run({ title, fails = [], does, expect }: Step): Promise<void> {
    await this.#clock.advance(1);
    const start = this.#clock.now();
    this.#southbound.planFailures(fails);
    const failures = await this.#do(does);
    await this.#settle();
    this.#same(title, 'failures', failures, expect.failures ?? []);
    const [record, ...others] = this.#scheduler.history(start, this.#clock.now());
    assert.ok(record, `${title}: a record`);
    this.#same(title, 'one record', others.length, 0);
    this.#checkRecord(title, record, does, expect);
    this.#same(title, 'retrieves', this.#southbound.retrieves.splice(0), expect.retrieves ?? []);
    this.#same(title, 'southbound', this.#southbound.content(), expect.content);
    this.#same(title, 'status', this.#statuses(), expect.status);
    this.#same(title, 'planned failures', this.#southbound.unmet, []);
    this.#same(title, 'problems', this.#southbound.problems, []);
    await this.#checkGraph(title, expect);
    for (const descriptor of this.#descriptors) {
      this.#checkMetadata(title, descriptor);
      await this.#checkViews(title, descriptor);
    }
    // Reads for the views.
    this.#southbound.retrieves.length = 0;
    this.#steps++;
  }

  /** If all values are in the desired state, a resync must not change any. */
  async end(): Promise<number> {
    const states = Object.values(this.#statuses()).map((text) => text.split(' ')[0] ?? '');
    const isInSync = states.every((state) => state === 'CONFIGURED' || state === 'OBTAINED');
    const { failures, seqNum } = await this.#scheduler.resyncDownstream({ verbose: false });
    this.#same('end', 'failures', failures.length, 0);
    if (isInSync)
      this.#same('end', 'reconciled', this.#scheduler.record(seqNum)?.Executed, undefined);
    await this.#scheduler.close();
    return this.#checks.count;
  }

  #same(title: string, what: string, seen: unknown, expected: unknown): void {
    this.#checks.same(`${title}: ${what}`, seen, expected);
  }

  async #do(action: StepAction): Promise<string[]> {
    if ('pass' in action) {
      await this.#clock.advance(action.pass);
      return [];
    }
    if ('notify' in action) {
      this.#southbound.apply(action.notify);
      const pairs = Object.entries(action.notify).map(([key, stored]) => ({
        key,
        value: stored && canonical(stored.value),
        metadata: stored?.number,
      }));
      this.#scheduler.pushNotification(pairs);
      return [];
    }
    const { failures, seqNum } = await this.#scheduler.commit(requestOf(action));
    this.#same('commit', 'seqNum', seqNum, this.#steps);
    if (!(action.revert && failures.length > 0)) this.#remember(action);
    return failures.map(({ key, operation, error }) => `${key} (${operation}): ${error.message}`);
  }

  #remember({ commit, resync }: CommitAction): void {
    if (resync) this.#desired.clear();
    for (const [key, value] of Object.entries(commit))
      if (value === null) this.#desired.delete(key);
      else this.#desired.set(key, canonical(value));
  }

  /** Waits until no transaction is queued or executed. */
  async #settle(): Promise<void> {
    for (let quiet = 0; quiet < 20; quiet++) {
      await this.#clock.turn();
      const { queueLength, inFlight } = this.#scheduler.load;
      if (queueLength + inFlight > 0) quiet = 0;
    }
  }

  #checkRecord(
    title: string,
    record: RecordedTxn,
    does: StepAction,
    { record: expected }: Expectation,
  ) {
    const calls = this.#southbound.calls.splice(0);
    const { values, executed, planned = executed, retry } = expected;
    this.#same(title, 'record', headOf(record), headExpected(does, this.#steps, retry));
    this.#same(title, 'start and stop', record.Start <= record.Stop, true);
    this.#same(title, 'values', (record.Values ?? []).map(argumentText), values);
    this.#same(title, 'planned', (record.Planned ?? []).map(operationText), planned);
    this.#same(title, 'executed', (record.Executed ?? []).map(operationText), executed);
    const recorded = (record.Executed ?? []).filter(isCall).map(callOf);
    // An all-or-nothing transaction is executed level by level, whatever the window is.
    const inOrder = this.#serial && !('revert' in does);
    if (inOrder) this.#same(title, 'calls', calls, recorded);
    else this.#same(title, 'calls', calls.sort(), recorded.sort());
  }

  #statuses(): Record<string, string> {
    const statuses: Record<string, string> = {};
    for (const { value, derived_values = [] } of this.#scheduler.statuses())
      for (const one of [value, ...derived_values]) statuses[one.key] = statusText(one);
    return statuses;
  }

  /** Flags over time, and the graph as it is now: its nodes and the edges between them. */
  async #checkGraph(title: string, { flags, status }: Expectation): Promise<void> {
    const { timeline } = this.#scheduler;
    const slices = new Slices(this.#clock);
    const counts: string[] = [];
    for (const flag of flagNames) {
      const { TotalCount, PerValueCount } = await flagStats(timeline, flag, [], slices);
      if (flag === 'descriptor' || flag === 'value-state')
        for (const [value, count] of Object.entries(PerValueCount).sort())
          counts.push(`${flag} ${value} ${count}`);
      else if (TotalCount > 0) counts.push(`${flag} ${TotalCount}`);
    }
    this.#same(title, 'flags', counts, flags);
    const nodes = [...(await snapshot(timeline, timeline.now, slices))];
    const keys = nodes.map(({ Key }) => Key);
    this.#same(title, 'nodes', keys, Object.keys(status).sort());
    for (const { Key, Flags, Targets } of nodes) {
      this.#same(title, `state of ${Key}`, Flags['value-state'], status[Key]?.split(' ')[0]);
      const edges = Targets.map(
        ({ Relation, Label, MatchingKeys }) => `${Relation} ${Label}: ${MatchingKeys.join(' ')}`,
      );
      this.#same(title, `edges of ${Key}`, edges, this.#edgesOf(Key, keys, status));
    }
  }

  /** Relations of the value by its descriptor, with the keys that the graph has. */
  #edgesOf(key: string, known: readonly string[], status: Expectation['status']): string[] {
    const described = this.#descriptors.find(({ prefix }) => key.startsWith(prefix));
    assert.ok(described);
    const isUnmanaged = status[key] === 'OBTAINED';
    const edges = (isUnmanaged ? [] : dependenciesOf(described, key)).map(({ label, anyOf }) => {
      const meets = (one: string) => (anyOf ? one.startsWith(label) : one === label);
      return `depends-on ${label}: ${known.filter(meets).join(' ')}`;
    });
    const derived = known.filter((one) => one.startsWith(`${key}/`));
    return [...edges, ...derived.map((one) => `derives ${one}: ${one}`)];
  }

  #checkMetadata(title: string, described: MockDescriptor): void {
    const { name, prefix } = described;
    const map = this.#scheduler.metadataMap<number>(name);
    assert.ok(map);
    const shown = map.listAllNames().map((label) => `${label} ${map.getValue(label)}`);
    const stored = this.#southbound
      .bases(prefix)
      .filter(([, { number }]) => number !== undefined)
      .map(([key, { number }]) => `${labelOf(described, key)} ${number}`);
    this.#same(title, `metadata of ${name}`, shown.sort(), stored.sort());
  }

  async #checkViews(title: string, { name, prefix, blind }: MockDescriptor): Promise<void> {
    const desired = [...this.#desired]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, value]) => `${key} ${valueText(value)} from-NB #undefined`)
      .sort();
    const stored = this.#southbound
      .bases(prefix)
      .map(
        ([key, { value, number, unmanaged }]) =>
          `${key} ${valueText(value)} from-${unmanaged ? 'SB' : 'NB'} #${number}`,
      );
    for (const selector of [{ descriptor: name }, { keyPrefix: prefix }]) {
      const dump = async (view: 'NB' | 'SB' | 'cached') =>
        (await this.#scheduler.dump(view, selector))
          .map(
            ({ Key, Value, Origin, Metadata }) =>
              `${Key} ${valueText(Value.value)} ${originText(Origin)} #${Metadata}`,
          )
          .sort();
      const where = `${title}: ${Object.values(selector)}`;
      this.#same(where, 'view NB', await dump('NB'), desired);
      this.#same(where, 'view cached', await dump('cached'), stored);
      if (blind) await assert.rejects(dump('SB'), /does not support Retrieve/);
      else this.#same(where, 'view SB', await dump('SB'), stored);
    }
  }
}

type CommitAction = Extract<StepAction, { readonly commit: unknown }>;

function requestOf(action: CommitAction): TransactionRequest {
  const { commit, resync, revert, retry, description = '' } = action;
  return {
    description,
    mode: resync ? 'full-resync' : 'update',
    onFailure: revert ? 'revert' : 'best-effort',
    values: new Map(
      Object.entries(commit).map(([key, value]) => [key, value === null ? null : canonical(value)]),
    ),
    ...(retry && { retry }),
  };
}

type Head = Record<string, unknown>;

/** All of a record but its times and lists. */
function headOf(record: RecordedTxn): Head {
  const { Start: _start, Stop: _stop, Values: _v, Planned: _p, Executed: _e, ...head } = record;
  return head;
}

function headExpected(
  action: StepAction,
  SeqNum: number,
  retry: { readonly of: number; readonly attempt: number } | undefined,
): Head {
  const head = { WithSimulation: true, SeqNum };
  if (retry) {
    const { of: RetryForTxn, attempt: RetryAttempt } = retry;
    return { ...head, TxnType: 'RetryFailedOps', RetryForTxn, RetryAttempt };
  }
  if (!('commit' in action)) return { ...head, TxnType: 'SBNotification' };
  return {
    ...head,
    TxnType: 'NBTransaction',
    ...(action.resync && { ResyncType: 'FullResync' }),
    ...(action.description !== undefined && { Description: action.description }),
  };
}

/** The operation is a call of the southbound. */
function isCall({ NOOP, IsProperty, NewState, PrevState }: RecordedTxnOp): boolean {
  return !NOOP && !IsProperty && NewState !== 'OBTAINED' && PrevState !== 'OBTAINED';
}

function callOf({ Operation, Key }: RecordedTxnOp): string {
  return `${Operation} ${Key}`;
}
