import type { KvStore } from '#datastore/api.ts';
import { Backoff } from '#infra/clock/backoff.ts';
import type { Clock, Random, Timer } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { errorText, traitsOf } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { ExternalValues } from '../last-known-state.ts';
import {
  CONFIG_STATUS,
  describedKey,
  isWaiting,
  statusKey,
  statusText,
  type ValueStates,
} from './record.ts';

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
  readonly values: () => ExternalValues | undefined;
  readonly statesOf: (key: string) => ValueStates;
  /** No value is being configured. */
  readonly isSettled: () => boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/**
 * Writes the status of each value of external configuration beside it. Each time it compares the states
 * of the values that may have changed with the records that the store has, and writes the difference. At
 * the start, after a failed write, and when the watcher has read the values again, it reads the records
 * and compares all values: so a lost write, a wiped store, or a crash between two batches is corrected.
 * Nothing is written while nothing changes.
 *
 * Nothing watches the records, so a record never causes another one.
 */
export class ConfigStatusPublisher {
  readonly #deps: ConfigStatusDeps;
  readonly #backoff: Backoff;
  readonly #slices: Slices;
  /** Records in the store, by the keys of their values. */
  #written = new Map<string, string>();
  /** The records in the store are not known: they are read, and all values compared. */
  #mustRead = true;
  #mustCompareAll = false;
  /** Keys of values that may have changed since the last comparison; each is read once. */
  #changed: Iterable<string>[] = [];
  /** Keys of values whose record can change although they do not. */
  readonly #waiting = new Set<string>();
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

  /**
   * Values or their states may have changed.
   * @param keys read once, later; undefined: any may have changed
   */
  statesChanged(keys: Iterable<string> | undefined): void {
    if (keys === undefined) this.#mustCompareAll = true;
    else if (!this.#mustRead && !this.#mustCompareAll) this.#changed.push(keys);
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
    if (!current) {
      this.#mustRead = true;
      this.#changed = [];
      return;
    }
    try {
      if (this.#mustRead) await this.#read();
      const keys = await this.#keysToCompare(current);
      for (const batch of batches(await this.#changes(current, keys))) {
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
    this.#written = new Map(
      entries.map(({ key, value }) => [describedKey(agentPrefix, key), value]),
    );
    this.#mustCompareAll = true;
  }

  async #keysToCompare(current: ExternalValues): Promise<ReadonlySet<string>> {
    const sources = this.#mustCompareAll
      ? [[...current.keys()], [...this.#written.keys()]]
      : [...this.#changed, [...this.#waiting]];
    this.#mustCompareAll = false;
    this.#changed = [];
    const keys = new Set<string>();
    for (const source of sources) {
      for (const key of source) {
        if (this.#slices.due()) await this.#slices.turn();
        keys.add(key);
      }
    }
    return keys;
  }

  /** Records to write, by the keys of their values; undefined: to delete. */
  async #changes(
    current: ExternalValues,
    keys: ReadonlySet<string>,
  ): Promise<Map<string, string | undefined>> {
    const changes = new Map<string, string | undefined>();
    for (const key of keys) {
      if (this.#slices.due()) await this.#slices.turn();
      const written = this.#written.get(key);
      const value = current.get(key);
      if (value) {
        const states = this.#deps.statesOf(key);
        if (isWaiting(states)) this.#waiting.add(key);
        else this.#waiting.delete(key);
        // A value that was not configured yet keeps its record.
        const record = statusText(value, states) ?? written;
        if (record !== written) changes.set(key, record);
      } else {
        this.#waiting.delete(key);
        if (written !== undefined) changes.set(key, undefined);
      }
    }
    return changes;
  }

  async #write(batch: ReadonlyMap<string, string | undefined>): Promise<void> {
    const { store, agentPrefix } = this.#deps;
    const records = Array.from(
      batch,
      ([key, record]) => [statusKey(agentPrefix, key), record] as const,
    );
    await store.putAll(new Map(records));
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
