/** The datastore watcher: its status and its errors. */
import { defineError } from '#infra/errors/errors.ts';
import type { ExternalValues } from './last-known-state.ts';

export interface DbStatus {
  /** Whether the last probe of the store succeeded. */
  readonly connected: boolean;
  /** Source of the last resync: none yet, the local mirror, or the store. */
  readonly source: 'none' | 'mirror' | 'store';
  /** Whether everything is being read, from the store or from the mirror. */
  readonly reading: boolean;
  /** Whether the watches are open. */
  readonly watching: boolean;
  /** The last error; undefined while the store is watched without errors. */
  readonly error: string | undefined;
  /** Number of resyncs that were pushed to the event loop. */
  readonly resyncs: number;
  /** Number of changes that the watch did not deliver, found by comparison with a snapshot. */
  readonly missedChanges: number;
  /** Invalid values: key in the store to the reason. */
  readonly broken: ReadonlyMap<string, string>;
  /** Number of valid values with fields that this agent does not know. */
  readonly unknownFields: number;
  /** Number of records that are kept for a grace period although the database lost them. */
  readonly retained: number;
  /** Changes that were received and that the event loop does not have yet; beside them, up to 50 events wait in its queue. */
  readonly pendingChanges: number;
  /** Why the mirror is not up to date; undefined if it is, or if there is no mirror. */
  readonly mirrorError: string | undefined;
}

export interface ResyncRequest {
  /** A database without any state of Kubernetes is accepted, too. */
  readonly acceptEmpty: boolean;
}

export interface DbWatcher {
  readonly status: DbStatus;
  start(): void;
  /** Values of external configuration; undefined until they were read from the store. */
  externalValues(): ExternalValues | undefined;
  /**
   * Reads all values again and pushes them as a resync. The request ends with this read: nothing of it
   * is left for a later one.
   * @throws ClosedWatcherError, ResyncRequestQueueFullError, LostKubeStateError; what the event loop
   *   throws; DatabaseUnavailableError
   */
  requestResync(request: ResyncRequest): Promise<void>;
  close(): Promise<void>;
}

export interface ExternalConfigListener {
  /** A value has changed. @param key without the prefix of the agent */
  changed(key: string): void;
  /** All values were read from the store, which may be another one now. */
  read(): void;
}

export const ClosedWatcherError = defineError({
  name: 'ClosedWatcherError',
  code: 'CV_DBWATCHER_CLOSED',
  remedy: 'The agent is shutting down. Retry the request when it has restarted.',
});

export const ResyncRequestQueueFullError = defineError({
  name: 'ResyncRequestQueueFullError',
  code: 'CV_DBWATCHER_RESYNC_QUEUE_FULL',
  remedy: 'Resyncs are already requested. Check with /readiness whether the database is available.',
});

export { loadKubeStateForResync, resyncDatabase } from './kube-state-database.ts';

export const DatabaseUnavailableError = defineError({
  name: 'DatabaseUnavailableError',
  code: 'CV_DBWATCHER_DATABASE_AWAY',
  status: 409,
  remedy:
    'Request it again when the database is available. Without a request, the agent continues by itself with what has changed meanwhile.',
});

export const LostKubeStateError = defineError({
  name: 'LostKubeStateError',
  code: 'CV_DBWATCHER_KUBE_STATE_LOST',
  status: 409,
  remedy:
    'Check that KSR is running: when it has written the state of Kubernetes again, a resync follows. ' +
    'POST /controller/resync?accept-empty=true accepts the empty database and disconnects all nodes and pods.',
});
