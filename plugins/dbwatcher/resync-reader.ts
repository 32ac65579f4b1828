import type { KvStore } from '#datastore/api.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import { DatabaseUnavailableError, LostKubeStateError } from './api.ts';
import type { KeySpace } from './key-space.ts';
import { LastKnownState } from './last-known-state.ts';
import type { Mirror } from './mirror.ts';
import { isOfNode, type RetainedNodes } from './retained-nodes.ts';
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

export interface ResyncReaderDeps {
  readonly cluster: KvStore;
  readonly mirror: Mirror | undefined;
  readonly keySpace: KeySpace;
  readonly retained: RetainedNodes;
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
    const before = known ?? (await this.#stateOfMirror(decoded.known.broken));
    decoded.keepLastValid(before);
    // A cluster always has nodes and namespaces. A database without them was wiped; a resync from it
    // would disconnect every pod until the reflector has written them again.
    const isEmptied = !decoded.known.hasReflectedState && before.hasReflectedState;
    if (isEmptied && !acceptEmpty)
      throw new LostKubeStateError(
        'the database has lost the state of Kubernetes; keeping the last known state',
        { where: cluster.name },
      );
    const isLost = identity !== this.#database && !isEmptied;
    const kept = retained.select(before, decoded.known, isLost, clock.monotonic());
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
   * @param broken keys whose value in the database is invalid
   */
  async #stateOfMirror(broken: ReadonlyMap<string, string>): Promise<LastKnownState> {
    const { mirror, keySpace, clock, log } = this.#deps;
    const state = new LastKnownState(keySpace, silentLogger);
    try {
      let count = 0;
      for (const entry of (await mirror?.read()) ?? []) {
        const watchedKey = keySpace.find(entry.key);
        // all other entries are not even decoded, which takes time
        const isNeeded =
          watchedKey &&
          (isOfNode({ watchedKey }) || broken.has(entry.key) || !state.hasReflectedState);
        if (isNeeded) state.add(entry);
        if (++count % SLICE === 0) await clock.turn();
      }
    } catch (thrown) {
      log.error({ reason: errorText(thrown) }, 'cannot read the local mirror');
    }
    return state;
  }
}
