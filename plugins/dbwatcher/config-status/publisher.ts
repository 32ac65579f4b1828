import type { KvStore } from '#datastore/api.ts';
import { Backoff } from '#infra/clock/backoff.ts';
import type { Clock, Random, Timer } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { errorText, traitsOf } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { ExternalValue } from '../last-known-state.ts';
import { CONFIG_STATUS, statusKey, statusText, type ValueStates } from './record.ts';

/** Changes in this time are written together. */
const DELAY_MS = 100;
/** At most one comparison in this time. */
const MIN_INTERVAL_MS = 1_000;
/** How often a comparison is postponed, by `DELAY_MS`, because values are being configured. */
const MAX_POSTPONED = 50;
/** Records in one transaction of the store; etcd accepts 128 operations. */
const BATCH = 100;
/** Characters in one transaction of the store; etcd accepts 1.5 MiB. */
const BATCH_CHARACTERS = 500_000;

export interface ConfigStatusDeps {
  readonly store: Pick<KvStore, 'list' | 'putAll'>;
  /** `/vnf-agent/<label>/` */
  readonly agentPrefix: string;
  /** Values in the store; undefined until they were read. */
  readonly values: () => Iterable<ExternalValue> | undefined;
  readonly statesOf: (key: string) => ValueStates;
  /** No value is being configured. */
  readonly isSettled: () => boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/**
 * Writes the status of each value of external configuration beside it. Each time it compares the states
 * of all values with the records that the store has, and writes the difference: so a lost write, a wiped
 * store, or a crash between two batches is corrected by the next comparison, and nothing is written while
 * nothing changes. The store is read only when its records are not known: at the start, after a failed
 * write, and when the watcher has read the values again.
 *
 * Nothing watches the records, so a record never causes another one.
 */
export class ConfigStatusPublisher {
  readonly #deps: ConfigStatusDeps;
  readonly #backoff: Backoff;
  readonly #slices: Slices;
  /** Records in the store. */
  #written = new Map<string, string>();
  /** The records in the store are not known. */
  #mustRead = true;
  #timer: Timer | undefined;
  #publishing: Promise<void> | undefined;
  #isDue = false;
  #postponed = 0;
  #lastStart = Number.NEGATIVE_INFINITY;
  #hasFailed = false;
  #failures = 0;
  #closed = false;

  constructor(deps: ConfigStatusDeps) {
    this.#deps = deps;
    this.#backoff = new Backoff({ firstMs: 1_000, maxMs: 30_000 }, deps.random);
    this.#slices = new Slices(deps.clock);
  }

  /** Failed reads and writes. */
  get failures(): number {
    return this.#failures;
  }

  /** The states of values may have changed. */
  statesChanged(): void {
    this.#schedule();
  }

  /** The values were read from the store, which may be another one now. */
  valuesRead(): void {
    this.#mustRead = true;
    this.#schedule();
  }

  /** Waits for the write in flight. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#publishing;
  }

  #schedule(): void {
    this.#isDue = true;
    // after a failure the timer of the retry runs
    if (this.#timer || this.#publishing || this.#closed) return;
    const { clock } = this.#deps;
    this.#runAfter(Math.max(DELAY_MS, this.#lastStart + MIN_INTERVAL_MS - clock.monotonic()));
  }

  #runAfter(ms: number): void {
    this.#timer = this.#deps.clock.timer(ms, () => {
      this.#timer = undefined;
      this.#run();
    });
  }

  #run(): void {
    const { isSettled, clock } = this.#deps;
    if (!isSettled() && this.#postponed < MAX_POSTPONED) {
      this.#postponed++;
      this.#runAfter(DELAY_MS);
      return;
    }
    this.#postponed = 0;
    this.#isDue = false;
    this.#lastStart = clock.monotonic();
    this.#publishing = this.#publish().finally(() => {
      this.#publishing = undefined;
      if (this.#closed) return;
      if (this.#hasFailed) this.#runAfter(this.#backoff.next());
      else if (this.#isDue) this.#schedule();
    });
  }

  async #publish(): Promise<void> {
    const { values, log } = this.#deps;
    // Before the values were read, a missing one is not a removed one.
    const current = values();
    if (!current) return;
    try {
      if (this.#mustRead) await this.#read();
      for (const batch of batches(await this.#changes([...current]))) {
        if (this.#closed || this.#mustRead) return;
        await this.#write(batch);
      }
      if (this.#hasFailed) log.info('the status of external configuration is written again');
      this.#hasFailed = false;
      this.#backoff.reset();
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  async #read(): Promise<void> {
    const { store, agentPrefix } = this.#deps;
    this.#mustRead = false;
    const { entries } = await store.list(agentPrefix + CONFIG_STATUS);
    this.#written = new Map(entries.map(({ key, value }) => [key, value]));
  }

  /** Records to write; undefined: to delete. */
  async #changes(values: readonly ExternalValue[]): Promise<Map<string, string | undefined>> {
    const { agentPrefix, statesOf } = this.#deps;
    const changes = new Map<string, string | undefined>();
    for (const key of this.#written.keys()) changes.set(key, undefined);
    await this.#slices.each(values, (value) => {
      const key = statusKey(agentPrefix, value.key);
      const record = statusText(value, statesOf(value.key));
      // A value that was not configured yet keeps its record.
      if (record === undefined || record === this.#written.get(key)) changes.delete(key);
      else changes.set(key, record);
    });
    return changes;
  }

  async #write(batch: ReadonlyMap<string, string | undefined>): Promise<void> {
    await this.#deps.store.putAll(batch);
    for (const [key, record] of batch)
      if (record === undefined) this.#written.delete(key);
      else this.#written.set(key, record);
  }

  /** That the store is unavailable is reported by the watcher; a refusal is visible nowhere else. */
  #fail(thrown: unknown): void {
    if (this.#closed) return;
    // it may have been written
    this.#mustRead = true;
    this.#failures++;
    const reason = errorText(thrown);
    const what = 'cannot write the status of external configuration; retrying';
    if (traitsOf(thrown).isRetriable || this.#hasFailed) this.#deps.log.debug({ reason }, what);
    else this.#deps.log.warn({ err: thrown }, what);
    this.#hasFailed = true;
  }
}

function* batches(
  changes: ReadonlyMap<string, string | undefined>,
): Iterable<ReadonlyMap<string, string | undefined>> {
  let batch = new Map<string, string | undefined>();
  let characters = 0;
  for (const [key, record] of changes) {
    const size = key.length + (record?.length ?? 0);
    if (batch.size === BATCH || (batch.size > 0 && characters + size > BATCH_CHARACTERS)) {
      yield batch;
      batch = new Map();
      characters = 0;
    }
    batch.set(key, record);
    characters += size;
  }
  if (batch.size > 0) yield batch;
}
