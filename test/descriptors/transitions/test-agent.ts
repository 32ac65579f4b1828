/** A southbound under a scheduler, and the invariants after each step. */
import assert from 'node:assert/strict';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import type { TransactionMode } from '#kvscheduler/api/transaction.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import { descriptorOf, isManaged, readBack } from '../compliance/driver.ts';
import type { Backend } from '../compliance/suite.ts';

export type DesiredState = ReadonlyMap<string, object>;

/** Compares a southbound with one that was configured at once, to find effects of earlier states. */
export interface FreshComparison {
  /** The state that does not depend on earlier states. */
  stateOf(backend: Backend): unknown;
  /** The same of a new southbound that was configured at once. */
  configuredAtOnce(desired: DesiredState): Promise<unknown>;
  /** A state without the residue that a partially refused change may leave. */
  withoutResidue(state: unknown): unknown;
}

/** An agent's scheduler over a backend. */
export class TestAgent {
  readonly #backend: Backend;
  readonly #scheduler: Scheduler;
  #desired = new Map<string, object>();

  constructor(backend: Backend) {
    this.#backend = backend;
    this.#scheduler = createScheduler({
      descriptors: backend.descriptors(),
      clock: systemClock,
      log: silentLogger,
    });
  }

  get desired(): DesiredState {
    return this.#desired;
  }

  /** Keys of the desired values that are pending. */
  get pending(): readonly string[] {
    return [...this.#desired.keys()].filter(
      (key) => this.#scheduler.status(key).value.state === 'PENDING',
    );
  }

  /** Deletes everything else. @returns the operations, all of which succeeded */
  resync(desired: DesiredState): Promise<readonly string[]> {
    this.#desired = new Map(desired);
    return this.#commit('full-resync', desired);
  }

  /** Reconciles the southbound with the desired state. */
  reconcile(): Promise<readonly string[]> {
    return this.#commit('downstream-resync', new Map());
  }

  /** As `attempt`, with the n-th message refused. */
  async updateRefused(
    changes: ReadonlyMap<string, object | null>,
    n: number,
    revert = false,
  ): Promise<{ readonly failures: number; readonly isRefused: boolean }> {
    this.#backend.refuse(n);
    const failures = await this.attempt(changes, revert);
    const isRefused = this.#backend.changes >= n;
    this.#backend.refuse(0);
    return { failures, isRefused };
  }

  /**
   * Reads the southbound back until the desired state is reached: twice, because a table is renamed only
   * after everything in it has been found.
   */
  async recover(): Promise<void> {
    await this.reconcile();
    await this.reconcile();
  }

  /** @param changes null deletes a value */
  update(changes: ReadonlyMap<string, object | null>): Promise<readonly string[]> {
    this.#desire(changes);
    return this.#commit('update', changes);
  }

  /**
   * As `update`, but operations may fail.
   * @param revert reverts the whole change then
   * @returns number of failures
   */
  async attempt(changes: ReadonlyMap<string, object | null>, revert: boolean): Promise<number> {
    const before = new Map(this.#desired);
    this.#desire(changes);
    const { failures } = await this.#scheduler.commit({
      description: 'attempt',
      mode: 'update',
      values: changes,
      onFailure: revert ? 'revert' : 'best-effort',
    });
    if (revert && failures.length > 0) this.#desired = before;
    return failures.length;
  }

  #desire(changes: ReadonlyMap<string, object | null>): void {
    for (const [key, value] of changes) {
      if (value === null) this.#desired.delete(key);
      else this.#desired.set(key, value);
    }
  }

  async #commit(
    mode: TransactionMode,
    values: ReadonlyMap<string, object | null>,
  ): Promise<readonly string[]> {
    const request = { description: mode, mode, values, onFailure: 'best-effort' as const };
    const { seqNum, failures } = await this.#scheduler.commit(request);
    assert.deepEqual(
      failures.map(({ key, operation, error }) => `${operation} ${key}: ${error.message}`),
      [],
    );
    const record = this.#scheduler.record(seqNum);
    assert.deepEqual(record?.RetrieveErrors ?? [], []);
    return (record?.Executed ?? [])
      .filter((each) => each.NOOP !== true)
      .map((each) => `${each.Operation} ${each.Key}`);
  }

  /**
   * Asserts that the actual state is the desired state except for pending values, and that neither a
   * resync of this agent nor a new agent changes anything.
   */
  async assertSettled(): Promise<void> {
    const waiting = new Set(this.pending);
    const states = [...this.#desired.keys()].filter((key) => !waiting.has(key));
    for (const key of states)
      assert.equal(this.#scheduler.status(key).value.state, 'CONFIGURED', key);
    const wanted = [...this.#desired].map(([key, value]): KeyedValue => ({ key, value }));

    const { values, leftovers } = await readBack(this.#backend.descriptors(), wanted);
    assert.deepEqual(leftovers, []);
    const ours = [...values.values()].filter((each) => isManaged(each, wanted));
    const there = new Map(ours.map(({ key, value }) => [key, value]));
    assert.deepEqual(this.#names(there.keys()), this.#names(states), 'actual state');
    for (const key of states)
      if (there.has(key) || !this.#isContested(key)) this.#assertThere(key, there.get(key));

    this.#backend.cut(0);
    assert.deepEqual(await this.reconcile(), [], 'a downstream resync does nothing');
    const next = new TestAgent(this.#backend);
    assert.deepEqual(await next.resync(this.#desired), [], 'the next agent does nothing');
    assert.deepEqual(this.#names(next.pending), this.#names(waiting), 'the same values wait');
    await next.close();
    assert.equal(this.#backend.changes, 0, 'resyncs send no change');
  }

  #assertThere(key: string, found: object | undefined): void {
    if (this.#isPartial(key)) assert.ok(found, key);
    else assert.deepEqual(found, this.#desired.get(key), key);
  }

  /** The southbound cannot show which of several values has a claim: they are named by the claim. */
  #names(keys: Iterable<string>): readonly string[] {
    return [...keys].map((key) => (this.#isContested(key) ? this.#claims(key).join() : key)).sort();
  }

  #isContested(key: string): boolean {
    const claims = this.#claims(key);
    return [...this.#desired.keys()].some(
      (other) => other !== key && this.#claims(other).some((each) => claims.includes(each)),
    );
  }

  #claims(key: string): readonly string[] {
    const descriptor = descriptorOf(this.#scheduler.descriptors, key);
    return descriptor?.claims?.(key, this.#desired.get(key) ?? {}) ?? [];
  }

  /** Whether a value that is derived from it is pending. */
  #isPartial(key: string): boolean {
    const { derived_values = [] } = this.#scheduler.status(key);
    return derived_values.some(({ state }) => state === 'PENDING');
  }

  close(): Promise<void> {
    return this.#scheduler.close();
  }
}
