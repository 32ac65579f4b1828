/**
 * The contract of a key-value store: etcd, an embedded level database, or memory. Keys and values
 * are UTF-8 text, keys not empty (values are JSON by convention, not by contract). One compliance
 * suite describes what stands here; every backend passes it.
 *
 * A write that rejects with StoreUnavailableError may have happened: the reply was lost, not the
 * request. Whoever cannot live with that reads again.
 */
import { defineError } from '#infra/errors/errors.ts';

/**
 * A point in the history of a prefix of one store. Opaque: may only be handed back to the store it
 * came from, for the same prefix, and compared for equality.
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
  /** What a watch has to start from to miss nothing after this snapshot. */
  readonly revision: Revision;
}

export interface WatchHandlers {
  /**
   * Changes after the start revision, each once and in order; one call a batch, and what one
   * `putAll` wrote stands in one batch. Never called from inside `watch`. Must not throw.
   */
  onChanges(changes: readonly KvChange[]): void;
  /**
   * Called once when the watch cannot go on without a gap (compaction, a wiped or restored
   * database). The watch is over; the caller lists anew and watches from that revision. A mere loss
   * of connection is no reason: the watch resumes by itself.
   */
  onLost(reason: Error): void;
}

export interface Watch {
  /** No handler is called any more after this. */
  close(): void;
}

export interface KvStore {
  /** For logs and errors, for example `etcd http://127.0.0.1:2379`. */
  readonly name: string;
  /**
   * @throws on this and every other call StoreUnavailableError when the store does not answer,
   *   StoreRefusedError when it answers that it will not, StoreClosedError after `close`
   */
  get(key: string): Promise<string | undefined>;
  list(prefix: string): Promise<KvSnapshot>;
  put(key: string, value: string): Promise<void>;
  /** Writes all or nothing, in the order of the map; `undefined` deletes. */
  putAll(entries: ReadonlyMap<string, string | undefined>): Promise<void>;
  /**
   * Creates the key unless it exists. A lost reply is cleared up by reading again, so `created` is
   * true exactly when this call made the key; rivals must therefore bring values that differ, such
   * as ones that carry their own name.
   * @returns the value that stands there now
   */
  putIfAbsent(key: string, value: string): Promise<{ created: boolean; value: string }>;
  /** @returns whether the value was `expected` and now is `value` */
  compareAndSwap(key: string, expected: string, value: string): Promise<boolean>;
  /** @returns whether the value was `expected` and the key is now gone */
  compareAndDelete(key: string, expected: string): Promise<boolean>;
  /** @returns whether the key existed */
  delete(key: string): Promise<boolean>;
  /**
   * Watches a prefix from a revision that `list` or a change of the same prefix gave.
   * @throws StoreClosedError
   */
  watch(prefix: string, from: Revision, handlers: WatchHandlers): Watch;
  /** Resolves when the store answers a read; rejects with StoreUnavailableError otherwise. */
  probe(): Promise<void>;
  /** Ends the watches without a word to their handlers. */
  close(): Promise<void>;
}

export const StoreUnavailableError = defineError({
  name: 'StoreUnavailableError',
  code: 'CV_STORE_UNAVAILABLE',
  remedy: 'Check that the database runs and that its endpoints and certificates are right.',
});

export const StoreRefusedError = defineError({
  name: 'StoreRefusedError',
  code: 'CV_STORE_REFUSED',
  remedy: 'Read the reason: permission, space, or a request over the limits of the database.',
});

export const StoreClosedError = defineError({
  name: 'StoreClosedError',
  code: 'CV_STORE_CLOSED',
  remedy: 'The agent is shutting down; repeat the request against the next one.',
});

export const WatchLostError = defineError({
  name: 'WatchLostError',
  code: 'CV_STORE_WATCH_LOST',
  remedy: 'Nothing: everything is read again and the watch resumes from there.',
});
