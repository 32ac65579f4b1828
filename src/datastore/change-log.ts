/**
 * The recent history of a store inside this process: what its watches are fed from. Bounded, so a
 * watch that starts from a revision that is no longer kept is lost, as with etcd's compaction.
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
  /** Number of the first change that was not delivered yet. */
  next: number;
  scheduled: boolean;
  closed: boolean;
}

export class ChangeLog {
  readonly #origin: string;
  readonly #limit: number;
  readonly #watchers = new Set<Watcher>();
  #log: LoggedChange[] = [];
  /** Number of the first change in the log; the log ends just before `#head`. */
  #first = 0;

  /**
   * @param origin tells the revisions of this log from those of any other
   * @param limit how many changes are kept; a batch larger than that is kept whole
   */
  constructor(origin: string, limit: number) {
    this.#origin = origin;
    this.#limit = limit;
  }

  get #head(): number {
    return this.#first + this.#log.length;
  }

  revision(): Revision {
    return this.#token(this.#head);
  }

  /** Adds what one write changed; the watches hear of it together, after the caller's turn. */
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

  /** Forgets the history; what running watches have not heard yet they still hear. */
  compact(): void {
    for (const watcher of this.#watchers) this.#deliver(watcher);
    this.#trim(this.#log.length);
  }

  /** The database is another now: ends every watch as lost. */
  loseWatches(): void {
    for (const watcher of this.#watchers) this.#drop(watcher, 'the database was wiped');
  }

  /** Ends every watch without a word. */
  close(): void {
    for (const watcher of this.#watchers) watcher.closed = true;
    this.#watchers.clear();
  }

  #trim(count: number): void {
    this.#log = this.#log.slice(count);
    this.#first += count;
  }

  #token(number: number): Revision {
    return `${this.#origin}:${number}` as Revision;
  }

  /** -1, which is older than all, for a revision of another log or of none. */
  #number(revision: Revision): number {
    const at = revision.lastIndexOf(':');
    const number = Number(revision.slice(at + 1));
    return revision.slice(0, at) === this.#origin && number <= this.#head ? number : -1;
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
      this.#drop(watcher, 'history is kept only from a later revision');
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
