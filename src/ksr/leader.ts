/**
 * Reflects while this instance is the leader. When it loses the leadership, it stops writing at once
 * and campaigns again; the wanted records stay in memory, so that it can follow the leader at any time.
 */
import type { Election, Leadership } from '#datastore/election.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { Handover, whenAnswered } from './handover.ts';
import type { RecordStore } from './records/record-store.ts';
import { RecordSync, type SyncState } from './records/record-sync.ts';
import type { RecordKind, Reflector } from './records/reflector.ts';
import type { RemovedNodes } from './records/removed-nodes.ts';
import { StatisticsRecord } from './statistics-record.ts';

export interface LeaderDeps {
  readonly election: Election;
  readonly store: RecordStore;
  readonly removedNodes: RemovedNodes;
  readonly reflector: Reflector;
  /** Begins the watches of these kinds of objects again; marks the tables that they feed incomplete at once. */
  readonly refresh: (kinds: readonly string[]) => void;
  /** Whether the API server answers no request of this instance. */
  readonly isCutOff: () => boolean;
  /** Of all records of the reflector. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly onSweep?: (kind: string, seconds: number) => void;
  /** Starts further work that only the leader does. */
  readonly startWork?: () => { close(): Promise<void> };
}

/** State of the records of one kind; `following`: another instance writes them. */
export interface KindState {
  readonly name: string;
  readonly state: SyncState | 'following';
  readonly pending: number;
  readonly tooLarge: number;
  readonly problem: string | undefined;
}

export class Leader {
  readonly #deps: LeaderDeps;
  readonly #stopping = new AbortController();
  #term: Term | undefined;
  #running: Promise<void> = Promise.resolve();
  /** How often this instance became the leader. */
  terms = 0;

  constructor(deps: LeaderDeps) {
    this.#deps = deps;
  }

  get isLeader(): boolean {
    return this.#term !== undefined;
  }

  kinds(): KindState[] {
    return this.#deps.reflector.records.map(({ name }) => {
      const sync = this.#term?.syncs.get(name);
      const { state = 'following', pending = 0, tooLarge = 0, problem } = sync ?? {};
      return { name, state, pending, tooLarge, problem };
    });
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Another instance may lead as soon as this resolves. */
  async close(): Promise<void> {
    this.#stopping.abort(new Error('contiv-ksr is stopping'));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { election, log } = this.#deps;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const leadership = await election.campaign(signal).catch(() => undefined);
      if (leadership === undefined) return;
      this.terms++;
      log.info('this instance leads: reflecting');
      const term = new Term(this.#deps, leadership);
      this.#term = term;
      const handover = new Handover(this.#deps, leadership);
      await anyAborted(signal, leadership.lost, handover.due);
      handover.close();
      this.#term = undefined;
      if (handover.due.aborted)
        log.warn('the API server does not answer this instance: another one leads');
      else if (!signal.aborted)
        log.warn(
          { reason: errorText(leadership.lost.reason) },
          'this instance does not lead any more',
        );
      await term.close();
      await leadership.resign();
      if (handover.due.aborted) await whenAnswered(this.#deps, signal);
    }
  }
}

/** The work of one leadership, from its beginning to its end. */
class Term {
  readonly syncs = new Map<string, RecordSync>();
  readonly #statistics: StatisticsRecord;
  readonly #removedNodes: RemovedNodes;
  readonly #work: { close(): Promise<void> } | undefined;

  constructor(deps: LeaderDeps, leadership: Leadership) {
    const { reflector, removedNodes, prefix, clock } = deps;
    this.#removedNodes = removedNodes;
    for (const kind of reflector.records)
      this.syncs.set(kind.name, newSync(deps, kind, leadership));
    this.#statistics = new StatisticsRecord({
      kinds: reflector.records,
      leadership,
      prefix,
      clock,
    });
    for (const sync of this.syncs.values()) sync.start();
    removedNodes.lead(leadership);
    this.#statistics.start();
    this.#work = deps.startWork?.();
  }

  async close(): Promise<void> {
    this.#removedNodes.lead(undefined);
    const syncs = [...this.syncs.values()];
    const closing = [this.#work?.close(), this.#statistics.close()];
    await Promise.all([...closing, ...syncs.map((sync) => sync.close())]);
  }
}

function newSync(deps: LeaderDeps, kind: RecordKind, leadership: Leadership): RecordSync {
  const { store, clock, random, log, reflector, removedNodes, onSweep } = deps;
  const { table, counters, sources } = kind;
  return new RecordSync({
    table,
    store,
    leadership,
    counters,
    clock,
    random,
    log,
    refresh: () => deps.refresh(sources),
    ...(onSweep && { onSweep: (seconds) => onSweep(kind.name, seconds) }),
    ...(table === reflector.nodes && { onOrphan: (key) => removedNodes.addOrphan(key) }),
  });
}

function anyAborted(...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    AbortSignal.any([...signals]).addEventListener('abort', () => resolve(), { once: true });
    if (signals.some(({ aborted }) => aborted)) resolve();
  });
}
