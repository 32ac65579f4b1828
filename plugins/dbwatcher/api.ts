/** The watcher of the datastore as operators, probes and metrics see it. */
import { defineError } from '#infra/errors/errors.ts';

export interface DbStatus {
  /** Whether the store answered when it was asked last. */
  readonly connected: boolean;
  /** What was read last as a whole: nothing yet, the local mirror, or the store itself. */
  readonly source: 'none' | 'mirror' | 'store';
  /** Changes are being followed since then. */
  readonly watching: boolean;
  /** Why not, and what went wrong last; undefined when all is well. */
  readonly error: string | undefined;
  /** How many resyncs were handed to the event loop. */
  readonly resyncs: number;
  /** Changes that the watch did not deliver, found by comparing with a snapshot. */
  readonly missedChanges: number;
  /** Values that make no sense, by their key in the store, with the reason. */
  readonly broken: ReadonlyMap<string, string>;
  /** Why the mirror is not up to date; undefined when it is, or when there is none. */
  readonly mirrorError: string | undefined;
}

export interface DbWatcher {
  readonly status: DbStatus;
  start(): void;
  /**
   * Has everything read again and sent as a resync.
   * @throws ClosedWatcherError, ResyncRequestQueueFullError; DatabaseUnavailableError: its return brings a resync
   */
  requestResync(): void;
  close(): Promise<void>;
}

export const ClosedWatcherError = defineError({
  name: 'ClosedWatcherError',
  code: 'CV_DBWATCHER_CLOSED',
  remedy: 'The agent is shutting down; repeat the request against the next one.',
});

export const ResyncRequestQueueFullError = defineError({
  name: 'ResyncRequestQueueFullError',
  code: 'CV_DBWATCHER_RESYNC_QUEUE_FULL',
  remedy: 'Resyncs were asked for already; see /readiness whether the database can be reached.',
});

export { loadKubeStateForResync, resyncDatabase } from './kube-state-database.ts';

export const DatabaseUnavailableError = defineError({
  name: 'DatabaseUnavailableError',
  code: 'CV_DBWATCHER_DATABASE_AWAY',
  remedy: 'Nothing: when the database is back, everything is read again without being asked for.',
});
