/**
 * The recent history of a store in this process, from which its watches read. It is bounded: a watch
 * from a revision that is no longer retained is lost, as after a compaction of etcd.
 */
import type { KvChange, Revision, Watch, WatchHandlers } from './api.ts';
import { WatchLostError } from './api.ts';

interface LoggedChange {
  readonly key: string;
  readonly value: string | undefined;
}

interface Watcher {
  readonly prefix: string;
  readonly handlers: WatchHandlers;
  /** Number of the first change that is not delivered yet. */
  next: number;
  scheduled: boolean;
  closed: boolean;
}

export class ChangeLog {
  readonly origin: string;
  readonly #limit: number;
  readonly #watchers = new Set<Watcher>();
  #log: LoggedChange[] = [];
  /** Number of the first change in the log; the log ends just before `#head`. */
  #first = 0;

  /**
   * @param origin distinguishes the revisions of this log from those of other logs
   * @param limit how many changes are retained; a larger batch is retained whole
   */
  constructor(origin: string, limit: number) {
    this.origin = origin;
    this.#limit = limit;
  }

  get #head(): number {
    return this.#first + this.#log.length;
  }

  revision(): Revision {
    return this.#token(this.#head);
  }

  /** Adds the changes of one write; watches get them in one batch, after the turn of the caller. */
  append(changes: readonly LoggedChange[]): void {
    if (changes.length === 0) return;
    const keep = Math.max(this.#limit, changes.length);
    for (const change of changes) this.#log.push(change);
    // Trimmed by halves: shift() of one element at a time would copy the log for every write.
    if (this.#log.length > 2 * keep) this.#trim(this.#log.length - keep);
    for (const watcher of this.#watchers) this.#schedule(watcher);
  }

  watch(prefix: string, from: Revision, handlers: WatchHandlers): Watch {
    const watcher: Watcher = {
      prefix,
      handlers,
      next: this.#number(from),
      scheduled: false,
      closed: false,
    };
    this.#watchers.add(watcher);
    this.#schedule(watcher);
    return {
      close: () => {
        watcher.closed = true;
        this.#watchers.delete(watcher);
      },
    };
  }

  /** Discards the history, after open watches have got the pending changes. */
  compact(): void {
    for (const watcher of this.#watchers) this.#deliver(watcher);
    this.#trim(this.#log.length);
  }

  /** The database was replaced: all watches are lost. */
  loseWatches(): void {
    for (const watcher of this.#watchers) this.#drop(watcher, 'the database was wiped');
  }

  /** Closes all watches without calling their handlers. */
  close(): void {
    for (const watcher of this.#watchers) watcher.closed = true;
    this.#watchers.clear();
  }

  #trim(count: number): void {
    this.#log = this.#log.slice(count);
    this.#first += count;
  }

  #token(number: number): Revision {
    return `${this.origin}:${number}` as Revision;
  }

  /** -1, which is older than all revisions, for a revision of another log and for an invalid one. */
  #number(revision: Revision): number {
    const at = revision.lastIndexOf(':');
    const number = Number(revision.slice(at + 1));
    return revision.slice(0, at) === this.origin && number <= this.#head ? number : -1;
  }

  #schedule(watcher: Watcher): void {
    if (watcher.scheduled) return;
    watcher.scheduled = true;
    queueMicrotask(() => {
      watcher.scheduled = false;
      this.#deliver(watcher);
    });
  }

  #drop(watcher: Watcher, reason: string): void {
    watcher.closed = true;
    this.#watchers.delete(watcher);
    watcher.handlers.onLost(new WatchLostError(reason, { where: watcher.prefix }));
  }

  #deliver(watcher: Watcher): void {
    if (watcher.closed) return;
    if (watcher.next < this.#first) {
      this.#drop(watcher, 'the revision is older than the retained history');
      return;
    }
    const changes: KvChange[] = [];
    for (let number = watcher.next; number < this.#head; number++) {
      const { key, value } = this.#log[number - this.#first]!;
      if (key.startsWith(watcher.prefix))
        changes.push({ key, value, revision: this.#token(number + 1) });
    }
    watcher.next = this.#head;
    if (changes.length > 0) watcher.handlers.onChanges(changes);
  }
}
