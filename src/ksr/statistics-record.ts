/** The key `status/gauges`: statistics of the reflected kinds, as the original writes them. */
import type { Leadership } from '#datastore/election.ts';
import type { Clock, Timer } from '#infra/clock/clock.ts';
import type { RecordCounters } from './records/counters.ts';
import type { RecordKind } from './records/reflector.ts';

/**
 * Interval of the original, which also writes when nothing has changed: 86,400 revisions a day, which every
 * agent with a watch of the prefix gets, and which etcd keeps until it compacts.
 */
const INTERVAL_MS = 1_000;
const KEY = 'status/gauges';

/** Kinds in the order of the original's message; it has no others, and its readers reject them. */
const fields: readonly (readonly [kind: string, field: string])[] = [
  ['Namespace', 'namespaceStats'],
  ['Pod', 'podStats'],
  ['NetworkPolicy', 'policyStats'],
  ['Endpoints', 'endpointsStats'],
  ['Service', 'serviceStats'],
  ['Node', 'nodeStats'],
  ['SfcPod', 'sfcPodStats'],
];

export interface StatisticsRecordDeps {
  readonly kinds: readonly RecordKind[];
  readonly leadership: Leadership;
  /** Of all records of the reflector. */
  readonly prefix: string;
  readonly clock: Clock;
}

export class StatisticsRecord {
  readonly #deps: StatisticsRecordDeps;
  #written = '';
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(deps: StatisticsRecordDeps) {
    this.#deps = deps;
  }

  start(): void {
    if (this.#isClosed) return;
    this.#timer = this.#deps.clock.timer(INTERVAL_MS, () => {
      this.#writing = this.#write();
      void this.#writing.then(() => this.start());
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#writing;
  }

  /** A failed write is made up for by the next one: statistics need no retry of their own. */
  async #write(): Promise<void> {
    const { kinds, leadership, prefix } = this.#deps;
    const text = statisticsText(kinds);
    if (text === this.#written) return;
    try {
      await leadership.putAll(new Map([[prefix + KEY, text]]));
      this.#written = text;
    } catch {
      // counted and reported by what writes the records
    }
  }
}

export function statisticsText(kinds: readonly RecordKind[]): string {
  const found = new Map(kinds.map(({ name, counters }) => [name, counters]));
  const stats = fields.flatMap(([kind, field]) => {
    const counters = found.get(kind);
    return counters ? [[field, statsOf(counters)]] : [];
  });
  return JSON.stringify(Object.fromEntries(stats));
}

/** Without zeros, as Go writes it. */
function statsOf(counters: RecordCounters): Record<string, number> {
  const all = {
    Adds: counters.adds,
    Updates: counters.updates,
    Deletes: counters.deletes,
    Resyncs: counters.resyncs,
    AddErrors: counters.addErrors,
    UpdErrors: counters.updateErrors,
    DelErrors: counters.deleteErrors,
    ArgErrors: counters.argErrors,
    ResErrors: counters.resyncErrors,
  };
  return Object.fromEntries(Object.entries(all).filter(([, count]) => count !== 0));
}
