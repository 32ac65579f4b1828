import type { KvChange, KvStore, Watch } from '#datastore/api.ts';
import type { Snapshots } from './snapshot.ts';

/** Keys with pending changes; with more, one resync takes less than their events. */
const CAPACITY = 1000;

export interface WatchSessionHandlers {
  /** Changes are pending. */
  onChanges(): void;
  /** The watch was lost, or too many changes are pending. */
  onBroken(reason: string): void;
}

/**
 * The watches that follow one set of snapshots, and the changes that are not processed yet. Of several changes of
 * one key only the last one is kept.
 */
export class WatchSession {
  readonly #watches: Watch[] = [];
  /** By key, in the order of the last change of each. */
  readonly #pending = new Map<string, KvChange>();
  #closed = false;

  constructor(store: KvStore, snapshots: Snapshots, handlers: WatchSessionHandlers) {
    for (const [prefix, { revision }] of snapshots)
      this.#watches.push(
        store.watch(prefix, revision, {
          onChanges: (changes) => {
            if (this.#closed) return;
            for (const change of changes) {
              this.#pending.delete(change.key);
              this.#pending.set(change.key, change);
            }
            if (this.#pending.size <= CAPACITY) handlers.onChanges();
            else handlers.onBroken(`changes of more than ${CAPACITY} keys are pending`);
          },
          onLost: (reason) => {
            if (!this.#closed) handlers.onBroken(reason.message);
          },
        }),
      );
  }

  get hasChanges(): boolean {
    return this.#pending.size > 0;
  }

  get isOpen(): boolean {
    return !this.#closed;
  }

  /** Removes and returns the oldest pending changes. @param limit their number; default: all */
  take(limit = Number.POSITIVE_INFINITY): KvChange[] {
    const taken: KvChange[] = [];
    for (const [key, change] of this.#pending) {
      if (taken.length >= limit) break;
      this.#pending.delete(key);
      taken.push(change);
    }
    return taken;
  }

  close(): void {
    this.#closed = true;
    this.#pending.clear();
    for (const watch of this.#watches) watch.close();
  }
}
