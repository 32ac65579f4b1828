import type { KvEntry, KvStore } from '#datastore/api.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import { DatabaseUnavailableError, LostKubeStateError } from './api.ts';
import type { KeySpace } from './key-space.ts';
import { LastKnownState } from './last-known-state.ts';
import type { Mirror } from './mirror.ts';
import { isOfNode, type Loss, type RetainedRecords } from './retained-records.ts';
import {
  type DatabaseContent,
  type DecodedEntries,
  decodeEntries,
  entriesOf,
  readDatabase,
  type Snapshots,
} from './snapshot.ts';

/** Entries of the mirror that are looked at per slice. */
const SLICE = 1000;
/** How often, and how far apart, a mirror is read that cannot be read. */
const MIRROR_READS = 5;
const MIRROR_RETRY_MS = 1000;

/**
 * A database that lacks more of the state of Kubernetes was wiped, and is being written again. A backup lacks
 * less: what it lacks was deleted since, or is written again soon. Few records may have been deleted.
 */
const MAX_LOST_SHARE = 0.25;
const MAX_LOST = 10;

export interface ResyncReaderDeps {
  readonly cluster: KvStore;
  readonly mirror: Mirror | undefined;
  readonly keySpace: KeySpace;
  readonly retained: RetainedRecords;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface ReadResync {
  readonly decoded: DecodedEntries;
  readonly snapshots: Snapshots;
  /** The database has lost the state of Kubernetes, and the request accepts that. */
  readonly acceptedEmpty: boolean;
  /** Must be called when the event loop has accepted the resync. */
  accept(): void;
}

/** Reads the database for a resync, and compares it with the state before: it may have been wiped. */
export class ResyncReader {
  readonly #deps: ResyncReaderDeps;
  /** Identity of the database of the last resync. */
  #database: string | undefined;

  constructor(deps: ResyncReaderDeps) {
    this.#deps = deps;
  }

  /**
   * @param known what the event loop has; undefined before the first resync
   * @param acceptEmpty the state of Kubernetes may be missing
   * @throws DatabaseUnavailableError, LostKubeStateError
   */
  async read(known: LastKnownState | undefined, acceptEmpty: boolean): Promise<ReadResync> {
    const { cluster, keySpace, retained, clock, log } = this.#deps;
    const { identity, snapshots } = await this.#readDatabase();
    const decoded = await decodeEntries(entriesOf(snapshots), keySpace, log, clock);
    const mirrored = known ? undefined : await this.#stateOfMirror(decoded.known);
    const before = known ?? mirrored ?? new LastKnownState(keySpace, silentLogger);
    decoded.keepLastValid(before);
    // A cluster always has nodes and namespaces. A database without them was wiped; a resync from it
    // would disconnect every pod until the reflector has written them again. A mirror that cannot be
    // read may have them.
    const isUnknown = !known && !mirrored;
    const isEmptied = !decoded.known.hasReflectedState && (isUnknown || before.hasReflectedState);
    if (isEmptied && !acceptEmpty)
      throw new LostKubeStateError(
        isUnknown
          ? 'the database has no state of Kubernetes, and the local mirror cannot be read'
          : 'the database has lost the state of Kubernetes; keeping the last known state',
        { where: cluster.name },
      );
    const loss = isEmptied ? 'none' : this.#lossOf(identity, before, decoded.known);
    const kept = retained.select(before, decoded.known, loss, clock.monotonic());
    for (const entry of kept) decoded.add(entry);
    return {
      decoded,
      snapshots,
      acceptedEmpty: isEmptied,
      accept: () => {
        this.#database = identity;
      },
    };
  }

  #lossOf(identity: string, before: LastKnownState, stored: LastKnownState): Loss {
    if (identity === this.#database) return 'none';
    // An agent that starts cannot tell a loss from a deletion.
    if (this.#database === undefined) return 'possible';
    return hasLostMany(before, stored) ? 'wiped' : 'possible';
  }

  async #readDatabase(): Promise<DatabaseContent> {
    const { cluster, keySpace } = this.#deps;
    try {
      return await readDatabase(cluster, keySpace);
    } catch (cause) {
      throw new DatabaseUnavailableError(errorText(cause), { cause });
    }
  }

  /**
   * Records of nodes and of these keys in the mirror, and one more if it has any state of Kubernetes.
   * @param stored content of the database
   * @returns undefined if it cannot be read
   */
  async #stateOfMirror(stored: LastKnownState): Promise<LastKnownState | undefined> {
    const { keySpace, clock } = this.#deps;
    const { broken } = stored;
    const state = new LastKnownState(keySpace, silentLogger);
    // Without it a value that is invalid now is removed, and a wiped database is not recognized.
    const isRequired = broken.size > 0 || !stored.hasReflectedState;
    const entries = await this.#readMirror(isRequired ? MIRROR_READS : 1);
    if (!entries) return undefined;
    let count = 0;
    for (const entry of entries) {
      const watchedKey = keySpace.find(entry.key);
      // all other entries are not even decoded, which takes time
      const isNeeded =
        watchedKey &&
        (isOfNode({ watchedKey }) || broken.has(entry.key) || !state.hasReflectedState);
      if (isNeeded) state.add(entry);
      if (++count % SLICE === 0) await clock.turn();
    }
    return state;
  }

  async #readMirror(maxReads: number): Promise<readonly KvEntry[] | undefined> {
    const { mirror, clock, log } = this.#deps;
    if (!mirror) return [];
    for (let reads = 1; ; reads++)
      try {
        return await mirror.read();
      } catch (thrown) {
        log.error({ reason: errorText(thrown) }, 'cannot read the local mirror');
        if (reads >= maxReads) return undefined;
        await clock.sleep(MIRROR_RETRY_MS);
      }
  }
}

/** Whether the database lacks more of the reflected records of before than may have been deleted. */
function hasLostMany(before: LastKnownState, stored: LastKnownState): boolean {
  let known = 0;
  let lost = 0;
  for (const [key, { watchedKey }] of before.entries()) {
    if (!watchedKey.reflected) continue;
    known++;
    if (!stored.get(key)) lost++;
  }
  return lost > MAX_LOST && lost > known * MAX_LOST_SHARE;
}
