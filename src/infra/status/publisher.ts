import type { Clock, Random, Timer } from '../clock/clock.ts';
import { errorText, traitsOf } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';
import { agentKey, agentRecord, componentKey, componentRecord } from './record.ts';
import type { StatusCheck } from './status.ts';

/** A component that fails and recovers again and again causes one write in this time. */
const MIN_INTERVAL_MS = 1_000;

export interface PublisherDeps {
  readonly status: StatusCheck;
  /** Prefix of the keys of this agent. */
  readonly prefix: string;
  /** Writes all entries in one transaction. */
  readonly putAll: (entries: ReadonlyMap<string, string>) => Promise<void>;
  /** Time between two heartbeats. */
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/**
 * Publishes the status: on a change the record of the agent and of the components that have changed, as
 * one transaction, and as heartbeat the record of the agent alone. (The Go agent writes all of them with
 * each heartbeat, one by one.)
 *
 * One write is in flight at most, and none waits: while the store does not answer, the next heartbeat
 * writes what is then the state of all components that have changed in the meantime. The records have no
 * lease. An agent that has ended is recognized by the time of its last update.
 */
export class StatusPublisher {
  readonly #deps: PublisherDeps;
  /** Components with a state that is not published. */
  readonly #changed = new Set<string>();
  #heartbeat: Timer | undefined;
  #soon: Timer | undefined;
  #writing: Promise<void> | undefined;
  #lastWrite = Number.NEGATIVE_INFINITY;
  #hasFailed = false;
  #isRefused = false;
  #failures = 0;
  #closed = false;

  constructor(deps: PublisherDeps) {
    this.#deps = deps;
  }

  /** Writes that have failed. */
  get failures(): number {
    return this.#failures;
  }

  start(): void {
    const { status, random, intervalMs } = this.#deps;
    for (const { name } of status.components) this.#changed.add(name);
    status.onChange((name) => {
      this.#changed.add(name);
      // After a failure the heartbeat writes: the agents of a cluster must not all write at once when
      // the store answers again.
      if (!this.#hasFailed) this.#writeSoon();
    });
    this.#writeSoon();
    // Agents that start together do not have their heartbeats together.
    this.#beatAfter(random.next() * intervalMs);
  }

  /** Waits for the write in flight. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#heartbeat?.cancel();
    this.#soon?.cancel();
    await this.#writing;
  }

  #beatAfter(ms: number): void {
    this.#heartbeat = this.#deps.clock.timer(ms, () => {
      this.#beatAfter(this.#deps.intervalMs);
      this.#write();
    });
  }

  #writeSoon(): void {
    if (this.#soon || this.#closed) return;
    const { clock } = this.#deps;
    const wait = Math.max(0, this.#lastWrite + MIN_INTERVAL_MS - clock.monotonic());
    this.#soon = clock.timer(wait, () => {
      this.#soon = undefined;
      this.#write();
    });
  }

  #write(): void {
    if (this.#writing || this.#closed) return;
    this.#lastWrite = this.#deps.clock.monotonic();
    this.#writing = this.#put().finally(() => {
      this.#writing = undefined;
      if (this.#changed.size > 0 && !this.#hasFailed) this.#writeSoon();
    });
  }

  async #put(): Promise<void> {
    const { status, prefix, putAll, log } = this.#deps;
    const entries = new Map([[agentKey(prefix), agentRecord(status)]]);
    const names = [...this.#changed];
    for (const name of names)
      entries.set(
        componentKey(prefix, name),
        componentRecord(status.component(name), status.now()),
      );
    this.#changed.clear();
    try {
      await putAll(entries);
      if (this.#isRefused) log.info('the status is published again');
      this.#hasFailed = false;
      this.#isRefused = false;
    } catch (thrown) {
      this.#failures++;
      this.#hasFailed = true;
      for (const name of names) this.#changed.add(name);
      this.#logFailure(thrown);
    }
  }

  /** That the store is unavailable is reported by its component; a refusal is visible nowhere else. */
  #logFailure(thrown: unknown): void {
    const { log } = this.#deps;
    const reason = errorText(thrown);
    if (traitsOf(thrown).isRetriable || this.#isRefused) {
      log.debug({ reason }, 'the status is not published');
      return;
    }
    this.#isRefused = true;
    log.warn({ err: thrown }, 'the status is not published');
  }
}
