/**
 * The contract of a key-value store: etcd, an embedded level database, or memory. Keys and values
 * are UTF-8 text, keys not empty (values are JSON by convention, not by contract). One compliance
 * suite tests this contract for every backend.
 *
 * The outcome of a write that rejects with StoreUnavailableError is unknown: the request or its reply
 * may be lost. A caller that depends on the outcome reads the key again.
 */
import { defineError } from '#infra/errors/errors.ts';

/**
 * A point in the history of a prefix of one store. Opaque: it may only be passed to the store that
 * returned it, for the same prefix, and compared for equality.
 */
export type Revision = string & { readonly brand: 'revision' };

export interface KvEntry {
  readonly key: string;
  readonly value: string;
}

export interface KvChange {
  readonly key: string;
  /** undefined: the key was deleted. */
  readonly value: string | undefined;
  /** Revision just after this change. */
  readonly revision: Revision;
}

export interface KvSnapshot {
  /** Sorted by the bytes of the key. */
  readonly entries: readonly KvEntry[];
  /** Start revision of a watch that delivers all changes after this snapshot. */
  readonly revision: Revision;
}

/** Consecutive keys of a prefix. */
export interface KvPart {
  /** Sorted by the bytes of the key. */
  readonly entries: readonly KvEntry[];
  /** No key of the prefix follows. */
  readonly isLast: boolean;
}

export interface WatchHandlers {
  /**
   * Changes after the start revision, each once and in order; one call per batch, and all changes of
   * a `putAll` are in one batch. Never called from inside `watch`. Must not throw.
   */
  onChanges(changes: readonly KvChange[]): void;
  /**
   * Called once when the watch cannot continue without a gap (compaction, a wiped or restored
   * database). The watch is closed; the caller lists again and watches from that revision. A lost
   * connection is not a reason: the watch resumes by itself.
   */
  onLost(reason: Error): void;
}

export interface Watch {
  /** Closes the watch; no handler is called after this. */
  close(): void;
}

export interface KvStore {
  /** For logs and errors, for example `etcd http://127.0.0.1:2379`. */
  readonly name: string;
  /**
   * @throws on this and every other call StoreUnavailableError when the store does not answer,
   *   StoreRefusedError when it rejects the request, StoreClosedError after `close`
   */
  get(key: string): Promise<string | undefined>;
  list(prefix: string): Promise<KvSnapshot>;
  /**
   * The first keys of a prefix after a key: a look at a large database that costs little.
   * @param after undefined: from the first key on
   * @param limit number of keys, at least 1
   */
  part(prefix: string, after: string | undefined, limit: number): Promise<KvPart>;
  put(key: string, value: string): Promise<void>;
  /** Writes all entries or none, in the order of the map; `undefined` deletes. */
  putAll(entries: ReadonlyMap<string, string | undefined>): Promise<void>;
  /**
   * Creates the key unless it exists. After a lost reply the key is read again, so `created` is true
   * exactly when this call created the key; concurrent callers must therefore write different values,
   * for example with their own names.
   * @returns the current value
   */
  putIfAbsent(key: string, value: string): Promise<{ created: boolean; value: string }>;
  /** @returns whether the value was `expected` and now is `value` */
  compareAndSwap(key: string, expected: string, value: string): Promise<boolean>;
  /** @returns whether the value was `expected` and the key is now deleted */
  compareAndDelete(key: string, expected: string): Promise<boolean>;
  /** @returns whether the key existed */
  delete(key: string): Promise<boolean>;
  /**
   * Watches a prefix from a revision that `list` or a change of the same prefix returned.
   * @throws StoreClosedError
   */
  watch(prefix: string, from: Revision, handlers: WatchHandlers): Watch;
  /**
   * A text that stays the same as long as the database is the same: it is another one when the database
   * was replaced, wiped or restored since an earlier call. Valid within this process. A database whose
   * history is too short to tell counts as another one.
   */
  identity(): Promise<string>;
  /** Resolves when the store answers a read; rejects with StoreUnavailableError otherwise. */
  probe(): Promise<void>;
  /** Closes the watches without calling their handlers. */
  close(): Promise<void>;
}

export const StoreUnavailableError = defineError({
  name: 'StoreUnavailableError',
  code: 'CV_STORE_UNAVAILABLE',
  isRetriable: true,
  remedy:
    'Check that the database is running, and that its endpoints and certificates are correct.',
});

export const StoreRefusedError = defineError({
  name: 'StoreRefusedError',
  code: 'CV_STORE_REFUSED',
  remedy:
    'Read the reason: a missing permission, no space, or a request over the limits of the database.',
});

export const StoreClosedError = defineError({
  name: 'StoreClosedError',
  code: 'CV_STORE_CLOSED',
  remedy: 'The agent is shutting down; retry when it is running again.',
});

export const WatchLostError = defineError({
  name: 'WatchLostError',
  code: 'CV_STORE_WATCH_LOST',
  remedy: 'None: the agent reads a new snapshot and watches from there.',
});
