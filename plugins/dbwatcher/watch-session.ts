import type { KvChange, KvStore, Watch } from '#datastore/api.ts';
import type { Snapshots } from './snapshot.ts';

/** Maximum number of pending changes; with more, a resync is faster. */
const CAPACITY = 1000;

export interface WatchSessionHandlers {
  /** Changes are pending. */
  onChanges(): void;
  /** The watch was lost, or too many changes are pending. */
  onBroken(reason: string): void;
}

/** The watches that follow one set of snapshots, and the changes that are not processed yet. */
export class WatchSession {
  readonly #watches: Watch[] = [];
  #pendingChanges: KvChange[] = [];
  #closed = false;

  constructor(store: KvStore, snapshots: Snapshots, handlers: WatchSessionHandlers) {
    for (const [prefix, { revision }] of snapshots)
      this.#watches.push(
        store.watch(prefix, revision, {
          onChanges: (changes) => {
            if (this.#closed) return;
            this.#pendingChanges.push(...changes);
            if (this.#pendingChanges.length <= CAPACITY) handlers.onChanges();
            else handlers.onBroken(`more than ${CAPACITY} changes are pending`);
          },
          onLost: (reason) => {
            if (!this.#closed) handlers.onBroken(reason.message);
          },
        }),
      );
  }

  get hasChanges(): boolean {
    return this.#pendingChanges.length > 0;
  }

  get isOpen(): boolean {
    return !this.#closed;
  }

  /** Removes and returns the pending changes. */
  take(): KvChange[] {
    const taken = this.#pendingChanges;
    this.#pendingChanges = [];
    return taken;
  }

  close(): void {
    this.#closed = true;
    this.#pendingChanges = [];
    for (const watch of this.#watches) watch.close();
  }
}
