/**
 * Plays a scenario and holds what is seen against what is written. Besides that it checks after
 * every step what needs no words, because it follows from the rest: that the southbound was asked
 * for what is recorded and for nothing else, that metadata and all three views show what stands
 * and what is wished, that the graph has an edge wherever there is a relation, and in the end that
 * there is nothing to repair.
 */
import assert from 'node:assert/strict';
import { ManualClock } from '#infra/clock/manual.ts';
import { Slices } from '#infra/clock/slices.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { TransactionRequest } from '#kvscheduler/api/transaction.ts';
import type { RecordedTxn, RecordedTxnOp } from '#kvscheduler/history/record.ts';
import { flagStats, snapshot } from '#kvscheduler/history/timeline/queries.ts';
import { flagNames } from '#kvscheduler/history/timeline/recorded-node.ts';
import { createScheduler, type Scheduler } from '#kvscheduler/scheduler.ts';
import type { Replies } from '../support/replies.ts';
import { Checks } from './checks.ts';
import type { Deed, Expectation, MockDescriptor, Scenario, Step } from './format.ts';
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

export interface Manner {
  /** Operations in flight at once. */
  readonly window: number;
  readonly replies: Replies;
}

/** @returns how many single facts were compared */
export async function runScenario(scenario: Scenario, manner: Manner): Promise<number> {
  const stage = new Stage(scenario, manner);
  for (const step of scenario.steps) await stage.play(step);
  return stage.end();
}

class Stage {
  readonly #clock = new ManualClock();
  readonly #checks = new Checks();
  readonly #southbound: ScenarioSouthbound;
  readonly #scheduler: Scheduler;
  readonly #descriptors: readonly MockDescriptor[];
  readonly #serial: boolean;
  /** What the northbound wants. */
  readonly #wished = new Map<string, Canonical>();
  #steps = 0;

  constructor({ descriptors, before = {} }: Scenario, { window, replies }: Manner) {
    this.#serial = window === 1;
    this.#descriptors = descriptors;
    this.#southbound = new ScenarioSouthbound(replies);
    this.#southbound.happens(before);
    this.#scheduler = createScheduler({
      descriptors: descriptors.map((one) => this.#southbound.descriptor(one)),
      clock: this.#clock,
      log: silentLogger,
      window,
    });
  }

  async play({ title, fails = [], does, expect }: Step): Promise<void> {
    await this.#clock.advance(1);
    const start = this.#clock.now();
    this.#southbound.fails(fails);
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
    // Those of the views.
    this.#southbound.retrieves.length = 0;
    this.#steps++;
  }

  /** Where everything is as it is wished there is nothing to repair. */
  async end(): Promise<number> {
    const states = Object.values(this.#statuses()).map((text) => text.split(' ')[0] ?? '');
    const isFine = states.every((state) => state === 'CONFIGURED' || state === 'OBTAINED');
    const { failures, seqNum } = await this.#scheduler.resyncDownstream({ verbose: false });
    this.#same('end', 'failures', failures.length, 0);
    if (isFine) this.#same('end', 'repaired', this.#scheduler.record(seqNum)?.Executed, undefined);
    await this.#scheduler.close();
    return this.#checks.count;
  }

  #same(title: string, what: string, seen: unknown, expected: unknown): void {
    this.#checks.same(`${title}: ${what}`, seen, expected);
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
    const { failures, seqNum } = await this.#scheduler.commit(requestOf(deed));
    this.#same('commit', 'seqNum', seqNum, this.#steps);
    if (!(deed.revert && failures.length > 0)) this.#remember(deed);
    return failures.map(({ key, operation, error }) => `${key} (${operation}): ${error.message}`);
  }

  #remember({ commit, resync }: CommitDeed): void {
    if (resync) this.#wished.clear();
    for (const [key, value] of Object.entries(commit))
      if (value === null) this.#wished.delete(key);
      else this.#wished.set(key, canonical(value));
  }

  /** Until nothing moves any more. */
  async #settle(): Promise<void> {
    for (let quiet = 0; quiet < 20; quiet++) {
      await this.#clock.turn();
      const { queueLength, inFlight } = this.#scheduler.load;
      if (queueLength + inFlight > 0) quiet = 0;
    }
  }

  #checkRecord(title: string, record: RecordedTxn, does: Deed, { record: expected }: Expectation) {
    const calls = this.#southbound.calls.splice(0);
    const { values, executed, planned = executed, retry } = expected;
    this.#same(title, 'record', headOf(record), headExpected(does, this.#steps, retry));
    this.#same(title, 'start and stop', record.Start <= record.Stop, true);
    this.#same(title, 'values', (record.Values ?? []).map(argumentText), values);
    this.#same(title, 'planned', (record.Planned ?? []).map(operationText), planned);
    this.#same(title, 'executed', (record.Executed ?? []).map(operationText), executed);
    const recorded = (record.Executed ?? []).filter(isAsked).map(callOf);
    // A transaction that must be kept whole goes level by level, whatever the window.
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

  /** What the descriptor says, as far as the graph knows it. */
  #edgesOf(key: string, known: readonly string[], status: Expectation['status']): string[] {
    const described = this.#descriptors.find(({ prefix }) => key.startsWith(prefix));
    assert.ok(described);
    const isForeign = status[key] === 'OBTAINED';
    const edges = (isForeign ? [] : dependenciesOf(described, key)).map(({ label, anyOf }) => {
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
    const standing = this.#southbound
      .bases(prefix)
      .filter(([, { number }]) => number !== undefined)
      .map(([key, { number }]) => `${labelOf(described, key)} ${number}`);
    this.#same(title, `metadata of ${name}`, shown.sort(), standing.sort());
  }

  async #checkViews(title: string, { name, prefix, blind }: MockDescriptor): Promise<void> {
    const wished = [...this.#wished]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, value]) => `${key} ${valueText(value)} from-NB #undefined`)
      .sort();
    const standing = this.#southbound
      .bases(prefix)
      .map(
        ([key, { value, number, foreign }]) =>
          `${key} ${valueText(value)} from-${foreign ? 'SB' : 'NB'} #${number}`,
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
      this.#same(where, 'view NB', await dump('NB'), wished);
      this.#same(where, 'view cached', await dump('cached'), standing);
      if (blind) await assert.rejects(dump('SB'), /does not support Retrieve/);
      else this.#same(where, 'view SB', await dump('SB'), standing);
    }
  }
}

type CommitDeed = Extract<Deed, { readonly commit: unknown }>;

function requestOf(deed: CommitDeed): TransactionRequest {
  const { commit, resync, revert, retry, description = '' } = deed;
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
  deed: Deed,
  SeqNum: number,
  retry: { readonly of: number; readonly attempt: number } | undefined,
): Head {
  const head = { WithSimulation: true, SeqNum };
  if (retry) {
    const { of: RetryForTxn, attempt: RetryAttempt } = retry;
    return { ...head, TxnType: 'RetryFailedOps', RetryForTxn, RetryAttempt };
  }
  if (!('commit' in deed)) return { ...head, TxnType: 'SBNotification' };
  return {
    ...head,
    TxnType: 'NBTransaction',
    ...(deed.resync && { ResyncType: 'FullResync' }),
    ...(deed.description !== undefined && { Description: deed.description }),
  };
}

/** Whether the southbound had to do with it. */
function isAsked({ NOOP, IsProperty, NewState, PrevState }: RecordedTxnOp): boolean {
  return !NOOP && !IsProperty && NewState !== 'OBTAINED' && PrevState !== 'OBTAINED';
}

function callOf({ Operation, Key }: RecordedTxnOp): string {
  return `${Operation} ${Key}`;
}
