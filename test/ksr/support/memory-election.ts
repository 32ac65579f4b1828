import type { KvStore } from '#datastore/api.ts';
import { type Election, type Leadership, LeadershipLostError } from '#datastore/election.ts';

/** One leader at a time of several candidates in this process; the database refuses writes of the others. */
export class MemoryElection {
  #leader: MemoryLeadership | undefined;
  readonly #waiting = new Set<() => void>();

  /** @param store through which the candidate writes */
  candidate(store: KvStore): Election {
    return {
      campaign: async (signal) => {
        for (;;) {
          signal.throwIfAborted();
          if (this.#leader === undefined) {
            const leadership = new MemoryLeadership(store, this.#waiting, () =>
              this.#end(leadership),
            );
            this.#leader = leadership;
            return leadership;
          }
          await new Promise<void>((resolve) => {
            this.#waiting.add(resolve);
            signal.addEventListener('abort', () => resolve(), { once: true });
          });
        }
      },
    };
  }

  /** The lease of the leader expires. */
  expire(): void {
    this.#leader?.lose();
  }

  /** The process of the leader was killed: it does not notice. */
  kill(): void {
    if (this.#leader) this.#end(this.#leader);
  }

  #end(leadership: MemoryLeadership): void {
    leadership.isOver = true;
    if (this.#leader !== leadership) return;
    this.#leader = undefined;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

class MemoryLeadership implements Leadership {
  isOver = false;
  readonly #store: KvStore;
  readonly #end: () => void;
  readonly #lost = new AbortController();

  readonly #waiting: ReadonlySet<() => void>;

  constructor(store: KvStore, waiting: ReadonlySet<() => void>, end: () => void) {
    this.#store = store;
    this.#waiting = waiting;
    this.#end = end;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  async putAll(entries: ReadonlyMap<string, string | undefined>): Promise<void> {
    if (this.isOver) {
      this.lose();
      throw new LeadershipLostError('another instance leads');
    }
    await this.#store.putAll(entries);
  }

  async hasSuccessor(): Promise<boolean> {
    return this.#waiting.size > 0;
  }

  async resign(): Promise<void> {
    this.#end();
  }

  lose(): void {
    this.#end();
    this.#lost.abort(new LeadershipLostError('the lease has expired'));
  }
}
