import type { Random, Timer } from '#infra/clock/clock.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { type CodedError, errorText } from '#infra/errors/errors.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import { StoreClosedError } from './api.ts';
import { ChangeLog } from './change-log.ts';
import { LocalStoreLostError, LocalStoreUnavailableError, type StoreLoss } from './disk-store.ts';
import {
  type Batch,
  type Database,
  type LevelContent,
  newBatch,
  writeSeal,
  writeSealed,
} from './level-content.ts';
import { lossOf, lossSince } from './level-loss.ts';
import { ContentChecksum, isSameContent, type Seal } from './level-seal.ts';
import { causeOf, createLevelFolder, type LockWait, openError, openLevel } from './open-level.ts';
import { StoreMarker } from './store-marker.ts';

export interface LevelOptions {
  readonly folder: string;
  /**
   * Another source can restore the content. When entries are lost, all are discarded instead of served
   * incompletely, and a database that cannot be repaired starts empty. Other databases are served as
   * they are, and `loss` describes what is missing.
   */
  readonly isExpendable?: boolean;
  readonly log?: Logger;
  /** How long to wait while another process has the database open; default: not at all. */
  readonly lockWait?: LockWait;
  /** How many changes a watch may lag behind before it is lost. */
  readonly logLimit?: number;
  /** Makes the identity of a new database. */
  readonly random?: Random;
  /**
   * For how long a write may stay unsynced. The end of the process loses nothing of it, a loss of power
   * does: for content that is of no use after a reboot. Default: none, a write is synced when it is
   * acknowledged.
   */
  readonly syncDelayMs?: number;
}

export interface Change {
  readonly key: string;
  readonly value: string | undefined;
}

/** The changes of one batch, and the seal that is written with them. */
interface SealedChanges {
  readonly seal: Seal;
  readonly changes: readonly Change[];
}

const ID_BYTES = 8;

/**
 * A level database that is used only while its content is known: it is that of the last acknowledged
 * seal.
 *
 * After a failed call it is not known. LevelDB would append behind a half-written record, and drop
 * everything from there on when it is opened again. So nothing is read or acknowledged until the
 * database was closed, reopened and its content compared with the seal. The next call does that,
 * whichever it is; all calls that wait share one attempt, and fail with it.
 */
export class SealedLevel {
  readonly #name: string;
  readonly #options: LevelOptions;
  readonly #logger: Logger;
  /** undefined: the content is expendable. */
  readonly #marker: StoreMarker | undefined;
  /** Open, and its content is known; undefined after a failed call. */
  #database: Database | undefined;
  /** The database that failed, until it is closed. */
  #broken: Database | undefined;
  #seal: Seal;
  /** The batch that is being written, or that failed: it is in the database whole or not at all. */
  #uncertain: SealedChanges | undefined;
  #changeLog: ChangeLog;
  #damage: string | undefined;
  #fault: CodedError | undefined;
  #isLost = false;
  #onFault: () => void = () => undefined;
  /** Until the next sync of acknowledged batches; undefined: all are synced. */
  #syncTimer: Timer | undefined;
  /** Number of attempts to reopen the database. */
  #attempts = 0;
  #closed = false;
  /** End of the queue of writes: each reads before it writes, so they run one after the other. */
  #writing: Promise<unknown> = Promise.resolve();

  /** @throws StoreOpenError */
  static async open(name: string, options: LevelOptions): Promise<SealedLevel> {
    const { folder, isExpendable = false, log = silentLogger, lockWait } = options;
    createLevelFolder(folder);
    const content = await openLevel(folder, isExpendable, log, lockWait);
    const { database, damage } = content;
    const marker = isExpendable ? undefined : new StoreMarker(`${folder}.marker`, log);
    try {
      const loss = marker && lossOf(content, await marker.read());
      if (damage !== undefined) log.error({ folder, damage }, 'the database has lost entries');
      else if (loss && loss !== content.seal?.loss) logLoss(log, folder, loss);
      const seal = firstSeal(content, loss, options);
      if (isExpendable && damage !== undefined) await database.clear();
      await writeSeal(database, seal);
      // After the database: a crash in between finds the same loss again.
      marker?.record(seal);
      await marker?.flush();
      return new SealedLevel(name, options, database, marker, seal, damage);
    } catch (thrown) {
      await database.close();
      throw openError(folder, errorText(causeOf(thrown)), thrown);
    }
  }

  private constructor(
    name: string,
    options: LevelOptions,
    database: Database,
    marker: StoreMarker | undefined,
    seal: Seal,
    damage: string | undefined,
  ) {
    this.#name = name;
    this.#options = options;
    this.#logger = options.log ?? silentLogger;
    this.#marker = marker;
    this.#database = database;
    this.#seal = seal;
    this.#damage = damage;
    this.#changeLog = this.#newChangeLog();
  }

  /** Of the last acknowledged batch. */
  get seal(): Seal {
    return this.#seal;
  }

  get changeLog(): ChangeLog {
    return this.#changeLog;
  }

  /** Damage that was found when the database was opened or reopened; undefined: none. */
  get damage(): string | undefined {
    return this.#damage;
  }

  get fault(): CodedError | undefined {
    return this.#fault;
  }

  onFault(listener: () => void): void {
    this.#onFault = listener;
  }

  /** Reads again when the database was closed during the read, because another call had failed. */
  async read<T>(action: (database: Database) => Promise<T>): Promise<T> {
    this.assertOpen();
    const asked = this.#attempts;
    for (;;) {
      const database = this.#database ?? (await this.#turn(() => this.#usable(asked)));
      try {
        return await action(database);
      } catch (thrown) {
        this.assertOpen();
        if (this.#database === database) throw this.#failed(thrown);
      }
    }
  }

  /** Runs an action of a read between two writes. @throws an error that `read` repeats for */
  between<T>(database: Database, action: () => T): Promise<T> {
    return this.#turn(() => {
      if (this.#database !== database) throw new Error('another call has failed');
      return action();
    });
  }

  /** Runs an action after all earlier writes; it may `commit` once. */
  async write<T>(action: (database: Database) => Promise<T>): Promise<T> {
    this.assertOpen();
    const asked = this.#attempts;
    return this.#turn(async () => {
      const database = await this.#usable(asked);
      try {
        return await action(database);
      } catch (thrown) {
        throw this.#failed(thrown);
      }
    });
  }

  /** Writes a batch with the seal of the content after it; it is synced at once, or a little later. */
  async commit(batch: Batch, seal: Seal, changes: readonly Change[]): Promise<void> {
    const { syncDelayMs = 0 } = this.#options;
    // only a sync shows that the disk works again
    if (syncDelayMs === 0 || this.#fault) return this.commitSynced(batch, seal, changes);
    const written = { seal, changes };
    this.#uncertain = written;
    await writeSealed(batch, seal, false);
    this.#acknowledge(written);
    this.#syncTimer ??= systemClock.timer(syncDelayMs, () => void this.#syncAll());
  }

  /** Writes a batch with the seal of the content after it, and syncs it together with all earlier ones. */
  async commitSynced(batch: Batch, seal: Seal, changes: readonly Change[]): Promise<void> {
    const written = { seal, changes };
    this.#uncertain = written;
    await writeSealed(batch, seal, true);
    this.#acknowledge(written);
    this.#synced();
    if (!this.#fault) return;
    this.#fault = undefined;
    this.#logger.info({ folder: this.#options.folder }, 'the local database can be written again');
    this.#onFault();
  }

  assertOpen(): void {
    if (this.#closed) throw new StoreClosedError('the store is closed', { where: this.#name });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#changeLog.close();
    await this.#writing;
    if (this.#syncTimer && this.#database) {
      // if it fails, the next start compares the content with its seal
      await writeSeal(this.#database, this.#seal).then(
        () => this.#synced(),
        () => undefined,
      );
    }
    this.#syncTimer?.cancel();
    await (this.#database ?? this.#broken)?.close();
    await this.#marker?.close();
  }

  /** Syncs the batches that were acknowledged without it. A failure is reported as the fault. */
  async #syncAll(): Promise<void> {
    await this.write((database) =>
      this.#syncTimer ? this.commitSynced(newBatch(database), this.#seal, []) : Promise.resolve(),
    ).catch(() => undefined);
  }

  #newChangeLog(): ChangeLog {
    const { id, generation } = this.#seal;
    return new ChangeLog(`level${id}:${generation}`, this.#options.logLimit ?? 10_000);
  }

  #turn<T>(action: () => T | Promise<T>): Promise<T> {
    const turn = this.#writing.then(action);
    this.#writing = turn.catch(() => undefined);
    return turn;
  }

  #acknowledge({ seal, changes }: SealedChanges): void {
    this.#uncertain = undefined;
    this.#seal = seal;
    this.#changeLog.append(changes);
  }

  /** All acknowledged batches are on the disk. A marker that is ahead of them would look like a loss. */
  #synced(): void {
    this.#syncTimer?.cancel();
    this.#syncTimer = undefined;
    this.#marker?.record(this.#seal);
  }

  /** The database is not used again after a failed call. @returns the error for the caller */
  #failed(thrown: unknown): CodedError {
    this.#broken ??= this.#database;
    this.#database = undefined;
    return this.#report(
      new LocalStoreUnavailableError(errorText(causeOf(thrown)), {
        where: this.#name,
        cause: thrown,
      }),
    );
  }

  #report(fault: CodedError): CodedError {
    const isNew = this.#fault?.message !== fault.message;
    this.#fault = fault;
    if (isNew) {
      const { folder } = this.#options;
      this.#logger.error({ folder, error: fault.message }, 'the local database is unavailable');
      this.#onFault();
    }
    return fault;
  }

  /**
   * The database, reopened if necessary; only in a turn of the queue.
   * @param asked number of attempts when the call was made: if a later one failed, the call fails too
   */
  async #usable(asked: number): Promise<Database> {
    if (this.#database) return this.#database;
    this.assertOpen();
    if (this.#isLost || this.#attempts > asked) throw this.#fault!;
    this.#attempts++;
    try {
      await this.#broken?.close();
      this.#broken = undefined;
      this.#database = await this.#reopen();
      return this.#database;
    } catch (thrown) {
      throw this.#isLost ? this.#fault! : this.#failed(thrown);
    }
  }

  async #reopen(): Promise<Database> {
    const { folder, isExpendable = false } = this.#options;
    const content = await openLevel(folder, isExpendable, this.#logger);
    // Closed by the next attempt if the following fails.
    this.#broken = content.database;
    const { seal, damage } = content;
    const isSame = (known: Seal): boolean =>
      damage === undefined && seal !== undefined && isSameContent(seal, known);
    if (this.#uncertain && isSame(this.#uncertain.seal)) this.#acknowledge(this.#uncertain);
    else if (!isSame(this.#seal)) await this.#lose(content);
    // LevelDB has written and synced all that it has read from its log
    this.#synced();
    this.#uncertain = undefined;
    this.#broken = undefined;
    return content.database;
  }

  /**
   * The disk has lost what it had confirmed. Expendable content starts empty, and its watches are lost.
   * Other content is not served, because the plugins have acted on what is missing: a restart of the
   * agent recovers it. It finds the loss in the seal, or, if that cannot be written, by the marker.
   */
  async #lose(content: LevelContent): Promise<void> {
    const loss = lossSince(this.#seal, content);
    const { folder } = this.#options;
    this.#damage = loss.detail;
    if (!this.#marker) {
      this.#logger.error({ folder, damage: loss.detail }, 'the database has lost entries');
      await this.#startEmpty(content.database);
      return;
    }
    this.#isLost = true;
    const { checksum, database } = content;
    const sequence = content.seal?.sequence ?? 0;
    await writeSeal(database, { ...this.#seal, sequence, checksum, loss }).catch(() => undefined);
    throw this.#report(
      new LocalStoreLostError(`the disk has lost acknowledged writes: ${loss.detail}`, {
        where: this.#name,
      }),
    );
  }

  async #startEmpty(database: Database): Promise<void> {
    const { id, sequence, generation } = this.#seal;
    const seal: Seal = {
      id,
      sequence,
      generation: generation + 1,
      checksum: new ContentChecksum(),
      loss: undefined,
    };
    await database.clear();
    await writeSeal(database, seal);
    const before = this.#changeLog;
    this.#seal = seal;
    this.#changeLog = this.#newChangeLog();
    before.loseWatches();
  }
}

/** A database that has lost entries gets a new identity: no other copy of it can be taken for it. */
function firstSeal(
  { seal, checksum, damage }: LevelContent,
  loss: StoreLoss | undefined,
  { isExpendable = false, random = systemRandom }: LevelOptions,
): Seal {
  const isContinued = seal !== undefined && damage === undefined && loss === seal.loss;
  return {
    id: (isContinued && seal.id) || Buffer.from(random.bytes(ID_BYTES)).toString('hex'),
    sequence: seal?.sequence ?? 0,
    generation: (seal?.generation ?? 0) + 1,
    checksum: isExpendable && damage !== undefined ? new ContentChecksum() : checksum,
    loss,
  };
}

function logLoss(log: Logger, folder: string, { history, detail }: StoreLoss): void {
  if (history === 'new') log.info({ folder }, 'created a new local database');
  else log.error({ folder, history, detail }, 'the local database has lost entries');
}
