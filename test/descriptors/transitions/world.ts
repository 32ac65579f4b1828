/** One southbound under a scheduler, and what has to hold after each step. */
import assert from 'node:assert/strict';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { AnyDescriptor, KeyedValue } from '#kvscheduler/api/descriptor.ts';
import type { TransactionMode } from '#kvscheduler/api/transaction.ts';
import { createScheduler, type Scheduler } from '#kvscheduler/scheduler.ts';
import { Driver, isOurs } from '../compliance/driver.ts';
import type { Backend } from '../compliance/suite.ts';

export type Wishes = ReadonlyMap<string, object>;

/** By what it shows whether a southbound is as if it had been configured in one go, whatever was before. */
export interface Past {
  /** All that depends on no past. */
  stateOf(backend: Backend): unknown;
  /** That of another southbound, which never was anything else. */
  inOneGo(wishes: Wishes): Promise<unknown>;
  /** A state without what may stay of a change of which a part was refused. */
  withoutRests(state: unknown): unknown;
}

export function descriptorOf(
  descriptors: readonly AnyDescriptor[],
  key: string,
): AnyDescriptor | undefined {
  return descriptors.find(
    ({ keyPrefixes, ownsKey }) =>
      keyPrefixes.some((prefix) => key.startsWith(prefix)) && (ownsKey?.(key) ?? true),
  );
}

/** An agent's scheduler over a backend. */
export class Agent {
  readonly #backend: Backend;
  readonly #scheduler: Scheduler;
  #wishes = new Map<string, object>();

  constructor(backend: Backend) {
    this.#backend = backend;
    this.#scheduler = createScheduler({
      descriptors: backend.descriptors(),
      clock: systemClock,
      log: silentLogger,
    });
  }

  get wishes(): Wishes {
    return this.#wishes;
  }

  /** Keys of what is wished and waits for something. */
  get pending(): readonly string[] {
    return [...this.#wishes.keys()].filter(
      (key) => this.#scheduler.status(key).value.state === 'PENDING',
    );
  }

  /** Everything besides is taken away. @returns operations, all of which went well */
  resync(wishes: Wishes): Promise<readonly string[]> {
    this.#wishes = new Map(wishes);
    return this.#commit('full-resync', wishes);
  }

  /** Holds what is wished against the southbound. */
  repair(): Promise<readonly string[]> {
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
   * Reads the southbound back until all is as it is wished: twice, because a table is renamed only
   * after all that is in it has been found.
   */
  async recover(): Promise<void> {
    await this.repair();
    await this.repair();
  }

  /** @param changes null takes a value away */
  update(changes: ReadonlyMap<string, object | null>): Promise<readonly string[]> {
    this.#wish(changes);
    return this.#commit('update', changes);
  }

  /**
   * As `update`, but not all has to go well.
   * @param revert takes the whole change back then
   * @returns how much failed
   */
  async attempt(changes: ReadonlyMap<string, object | null>, revert: boolean): Promise<number> {
    const before = new Map(this.#wishes);
    this.#wish(changes);
    const { failures } = await this.#scheduler.commit({
      description: 'attempt',
      mode: 'update',
      values: changes,
      onFailure: revert ? 'revert' : 'best-effort',
    });
    if (revert && failures.length > 0) this.#wishes = before;
    return failures.length;
  }

  #wish(changes: ReadonlyMap<string, object | null>): void {
    for (const [key, value] of changes) {
      if (value === null) this.#wishes.delete(key);
      else this.#wishes.set(key, value);
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
   * What is there is what is wished and does not wait; an agent that starts now finds it so and does
   * nothing, nor does this one when it looks.
   */
  async assertSettled(): Promise<void> {
    const waiting = new Set(this.pending);
    const states = [...this.#wishes.keys()].filter((key) => !waiting.has(key));
    for (const key of states)
      assert.equal(this.#scheduler.status(key).value.state, 'CONFIGURED', key);
    const wanted = [...this.#wishes].map(([key, value]): KeyedValue => ({ key, value }));

    const found = await new Driver(this.#backend.descriptors()).retrieve(wanted);
    const ours = [...found.values()].filter((each) => isOurs(each, wanted));
    const there = new Map(ours.map(({ key, value }) => [key, value]));
    assert.deepEqual(this.#names(there.keys()), this.#names(states), 'what is there');
    for (const key of states)
      if (there.has(key) || !this.#isContested(key)) this.#assertThere(key, there.get(key));

    // a value of which a part waits reads back without it, and may be renewed; nothing is sent
    const renewals = new Set(
      states.filter((key) => this.#isPart(key)).map((key) => `UPDATE ${key}`),
    );
    const done = (operations: readonly string[]) =>
      operations.filter((each) => !renewals.has(each));
    this.#backend.cut(0);
    assert.deepEqual(done(await this.repair()), [], 'a downstream resync does nothing');
    const next = new Agent(this.#backend);
    assert.deepEqual(done(await next.resync(this.#wishes)), [], 'the next agent does nothing');
    assert.deepEqual(this.#names(next.pending), this.#names(waiting), 'the same values wait');
    await next.close();
    assert.equal(this.#backend.changes, 0, 'resyncs send no change');
  }

  #assertThere(key: string, found: object | undefined): void {
    if (this.#isPart(key)) assert.ok(found, key);
    else assert.deepEqual(found, this.#wishes.get(key), key);
  }

  /** Of values that want one thing the southbound cannot tell who has it: they go by its name. */
  #names(keys: Iterable<string>): readonly string[] {
    return [...keys].map((key) => (this.#isContested(key) ? this.#claims(key).join() : key)).sort();
  }

  #isContested(key: string): boolean {
    const claims = this.#claims(key);
    return [...this.#wishes.keys()].some(
      (other) => other !== key && this.#claims(other).some((each) => claims.includes(each)),
    );
  }

  #claims(key: string): readonly string[] {
    const descriptor = descriptorOf(this.#scheduler.descriptors, key);
    return descriptor?.claims?.(key, this.#wishes.get(key) ?? {}) ?? [];
  }

  /** Whether something that is derived from the value waits. */
  #isPart(key: string): boolean {
    const { derived_values = [] } = this.#scheduler.status(key);
    return derived_values.some(({ state }) => state === 'PENDING');
  }

  close(): Promise<void> {
    return this.#scheduler.close();
  }
}
