import type { KvStore } from '#datastore/api.ts';
import type { Clock, Timer } from '#infra/clock/clock.ts';
import { defineError, errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { ReportState } from '#infra/status/status.ts';

export const DuplicateLabelError = defineError({
  name: 'DuplicateLabelError',
  code: 'CV_DBWATCHER_DUPLICATE_LABEL',
  isRetriable: false,
  remedy: 'Give each node its own label: --microservice-label or MICROSERVICE_LABEL.',
});

/** Below this prefix, which no program of the original reads, each running agent has a key. */
const PREFIX = '/contiv-vswitch/agents/';
const INTERVAL_MS = 10_000;
/** An instance whose key has not changed for so many intervals has ended. */
const ENDED_AFTER = 4;

export interface AgentInstancesDeps {
  readonly store: KvStore;
  readonly label: string;
  /** Different for each start of an agent. */
  readonly instance: string;
  /** Name of the host, for the operator of the other agent. */
  readonly host: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly reportState: ReportState;
}

interface OtherInstance {
  readonly text: string;
  /** Number of intervals in which the key did not change. */
  readonly unchanged: number;
}

/**
 * Detects a second agent with the label of this one. Each agent has a key of its own, so a restarted
 * agent is never locked out by the key that its predecessor left. As long as there is a key of another
 * instance, both agents change theirs: a key that changes shows an agent that runs, and one that does
 * not is deleted. A single agent writes its key once.
 */
export class AgentInstances {
  readonly #deps: AgentInstancesDeps;
  readonly #prefix: string;
  #others: ReadonlyMap<string, OtherInstance> = new Map();
  #beat = 0;
  #hasKey = false;
  #reported: string | undefined;
  #timer: Timer | undefined;
  #running: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(deps: AgentInstancesDeps) {
    this.#deps = deps;
    this.#prefix = `${PREFIX}${deps.label}/`;
  }

  start(): void {
    this.#deps.reportState('ok');
    this.#next();
  }

  /** Deletes the own key, so that the next agent does not have to wait for its end. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#running;
    if (!this.#hasKey) return;
    await this.#deps.store.delete(this.#prefix + this.#deps.instance).catch(() => undefined);
  }

  #next(): void {
    if (this.#closed) return;
    this.#timer = this.#deps.clock.timer(INTERVAL_MS, () => {
      this.#running = this.#check().then(() => this.#next());
    });
  }

  /** While the store is unavailable, nothing is known and nothing changes. */
  async #check(): Promise<void> {
    const { store, instance, host, log } = this.#deps;
    try {
      const { entries } = await store.list(this.#prefix);
      const own = this.#prefix + instance;
      const others = new Map<string, OtherInstance>();
      let running: string | undefined;
      for (const { key, value } of entries) {
        if (key === own) continue;
        const before = this.#others.get(key);
        const unchanged = before?.text === value ? before.unchanged + 1 : 0;
        if (unchanged >= ENDED_AFTER) await store.compareAndDelete(key, value);
        else others.set(key, { text: value, unchanged });
        // a key seen for the first time may be left from an agent that has ended
        if (before && unchanged < ENDED_AFTER && (before.text !== value || this.#reported))
          running = value;
      }
      this.#others = others;
      if (others.size > 0 || !entries.some(({ key }) => key === own))
        await store.put(own, JSON.stringify({ host, beat: ++this.#beat }));
      this.#hasKey = true;
      this.#report(running);
    } catch (thrown) {
      // a stop must not wait for a store that does not answer
      this.#hasKey = false;
      log.debug({ reason: errorText(thrown) }, 'cannot look for agents with the same label');
    }
  }

  #report(running: string | undefined): void {
    const { label, log, reportState } = this.#deps;
    const host = running === undefined ? undefined : hostOf(running);
    if (host === this.#reported) return;
    this.#reported = host;
    if (host === undefined) {
      log.info({ label }, 'no other agent has the label of this one any more');
      reportState('ok');
      return;
    }
    const text = `another agent with the label ${label} is running on host ${host}`;
    const err = new DuplicateLabelError(text, { where: this.#prefix });
    log.error({ err, host }, text);
    reportState('error', err);
  }
}

function hostOf(text: string): string {
  try {
    const { host } = JSON.parse(text) as { host?: unknown };
    return typeof host === 'string' ? host : text;
  } catch {
    return text;
  }
}
