import type { KvChange, KvStore, Watch } from '#datastore/api.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { PendingChanges } from './pending-changes.ts';
import type { Snapshots } from './snapshot.ts';

export interface WatchSessionHandlers {
  /** A key was written or deleted; its change is kept unless it is known. */
  onHeard(key: string): void;
  /** Whether the event loop has what the key has after the change. */
  isKnown(change: KvChange): boolean;
  /** Whether a key is of external configuration. */
  isExternal(key: string): boolean;
  /** Changes are pending. */
  onChanges(): void;
  /** The watch was lost. */
  onBroken(reason: string): void;
}

/** The watches that follow one set of snapshots, and the changes that are not processed yet. */
export class WatchSession {
  readonly #watches: Watch[] = [];
  readonly #pending: PendingChanges;
  #closed = false;

  constructor(store: KvStore, snapshots: Snapshots, clock: Clock, handlers: WatchSessionHandlers) {
    this.#pending = new PendingChanges(
      (change) => handlers.isKnown(change),
      (key) => handlers.isExternal(key),
    );
    for (const [prefix, { revision }] of snapshots)
      this.#watches.push(
        store.watch(prefix, revision, {
          onChanges: (changes) => {
            if (this.#closed) return;
            const heard = clock.now();
            for (const change of changes) {
              handlers.onHeard(change.key);
              this.#pending.add({ ...change, heard });
            }
            if (this.#pending.size > 0) handlers.onChanges();
          },
          onLost: (reason) => {
            if (!this.#closed) handlers.onBroken(reason.message);
          },
        }),
      );
  }

  /** Changes that wait. */
  get pending(): PendingChanges {
    return this.#pending;
  }

  get isOpen(): boolean {
    return !this.#closed;
  }

  close(): void {
    this.#closed = true;
    for (const watch of this.#watches) watch.close();
  }
}
