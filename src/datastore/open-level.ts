import { existsSync } from 'node:fs';
import { cp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Level } from 'level';
import type { Clock } from '#infra/clock/clock.ts';
import { CodedError, defineError, errorText } from '#infra/errors/errors.ts';
import { createFolder } from '#infra/files/folder.ts';
import type { Logger } from '#infra/log/log.ts';
import { lockHolder } from '#infra/process/lock-holder.ts';
import { type LevelContent, readContent } from './level-content.ts';

export const StoreOpenError = defineError({
  name: 'StoreOpenError',
  code: 'CV_STORE_UNOPENABLE',
  remedy:
    'Check that the folder is writable and that its disk has free space; else move the folder.',
});

/** Another process has the database open. */
export class StoreLockedError extends CodedError {
  readonly code = 'CV_STORE_LOCKED';
  readonly remedy = 'End the other process, or configure a folder of its own for this one.';
  override readonly name = 'StoreLockedError';
  readonly holder: string;

  constructor(folder: string, cause: unknown) {
    const pid = lockHolder(join(folder, 'LOCK'));
    const holder = pid === undefined ? 'another process' : `process ${pid}`;
    super(`${holder} has it open`, { where: folder, cause });
    this.holder = holder;
  }
}

/** Functions that the types of `level` omit, because its browser build does not have them. */
const maintenance = Level as unknown as {
  repair(folder: string): Promise<void>;
  destroy(folder: string): Promise<void>;
};

const LOCKED = 'LEVEL_LOCKED';

/** The error of the database, which level wraps. */
export function causeOf(thrown: unknown): unknown {
  return thrown instanceof Error && thrown.cause !== undefined ? causeOf(thrown.cause) : thrown;
}

function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error ? (thrown as NodeJS.ErrnoException).code : undefined;
}

export interface LockWait {
  readonly clock: Clock;
  readonly limitMs: number;
}

/** Interval between two attempts to get the lock. */
const LOCK_RETRY_MS = 100;

/**
 * For the first `openLevel`: `level` creates the folder, too, but in some places never ends.
 * @throws StoreOpenError
 */
export function createLevelFolder(folder: string): void {
  try {
    createFolder(folder);
  } catch (thrown) {
    throw openError(folder, errorText(thrown), thrown);
  }
}

async function attempt(folder: string): Promise<LevelContent> {
  const database = new Level<string, string>(folder);
  await database.open();
  try {
    return await readContent(database);
  } catch (thrown) {
    await database.close();
    throw thrown;
  }
}

/**
 * A damaged database, which a repair may help. A missing file is damage, too; all other errors of the
 * file system (no space, no permission, a failing disk) are not: a repair would move the log away that
 * it cannot convert.
 */
function isDamage(cause: unknown): boolean {
  const code = codeOf(cause);
  if (code === 'LEVEL_CORRUPTION') return true;
  return code === 'LEVEL_IO_ERROR' && errorText(cause).endsWith('No such file or directory');
}

/**
 * Opens a database folder, reads its content, and repairs it if necessary: a damaged index is rebuilt
 * from the data files; if that fails, the database starts empty. Before a repair a database that is
 * not expendable is copied to `<folder>.damaged`, so that nothing that was readable is destroyed; when
 * there is no space for the copy, nothing is changed and nothing of it is left. A folder that another
 * process has open is not changed.
 */
export async function openLevel(
  folder: string,
  isExpendable: boolean,
  log: Logger,
  wait?: LockWait,
): Promise<LevelContent> {
  const copy = new DamagedCopy(folder, log);
  try {
    const content = await openUnlocked(folder, wait);
    await copy.complete();
    return content;
  } catch (thrown) {
    const cause = causeOf(thrown);
    if (codeOf(cause) === LOCKED) throw new StoreLockedError(folder, thrown);
    if (!isDamage(cause)) throw openError(folder, errorText(cause), thrown);
    log.warn({ folder, error: errorText(cause) }, 'the database is damaged: repairing it');
  }
  let reason: string;
  try {
    if (!isExpendable) await copy.take();
    await maintenance.repair(folder);
    const content = await attempt(folder);
    await copy.complete();
    return content;
  } catch (thrown) {
    const cause = causeOf(thrown);
    reason = `repair failed: ${errorText(cause)}`;
    if (!isExpendable && !isDamage(cause)) throw openError(folder, reason, thrown);
    log.error({ folder, error: reason }, 'the database is lost: starting with an empty one');
  }
  try {
    await maintenance.destroy(folder);
    const content = await attempt(folder);
    await copy.complete();
    return { ...content, damage: reason };
  } catch (thrown) {
    throw openError(folder, errorText(thrown), thrown);
  }
}

/**
 * Copy of a damaged database. It replaces the last copy when the repair is complete: until then the folder may
 * be repaired in part, and a copy of that would replace the only readable one.
 */
class DamagedCopy {
  readonly #folder: string;
  readonly #last: string;
  /** Complete, of a repair that has begun. */
  readonly #current: string;
  readonly #log: Logger;

  constructor(folder: string, log: Logger) {
    this.#folder = folder;
    this.#log = log;
    this.#last = `${folder}.damaged`;
    this.#current = `${this.#last}.repair`;
  }

  /** Copies the database, unless a repair before was not completed. @throws leaves nothing of the copy */
  async take(): Promise<void> {
    if (existsSync(this.#current)) return;
    const partial = `${this.#last}.partial`;
    await rm(partial, { recursive: true, force: true });
    try {
      await cp(this.#folder, partial, { recursive: true });
      await rename(partial, this.#current);
    } catch (thrown) {
      await rm(partial, { recursive: true, force: true });
      throw thrown;
    }
  }

  /** The database is open: it is used also if the copy cannot be renamed. */
  async complete(): Promise<void> {
    if (!existsSync(this.#current)) return;
    try {
      await rm(this.#last, { recursive: true, force: true });
      await rename(this.#current, this.#last);
    } catch (thrown) {
      this.#log.warn(
        { folder: this.#current, error: errorText(thrown) },
        'cannot rename the copy of the damaged database',
      );
    }
  }
}

/** Opens a folder, and waits while another process has it open. */
async function openUnlocked(folder: string, wait?: LockWait): Promise<LevelContent> {
  const end = wait ? wait.clock.monotonic() + wait.limitMs : 0;
  for (;;) {
    try {
      return await attempt(folder);
    } catch (thrown) {
      const isLocked = codeOf(causeOf(thrown)) === LOCKED;
      if (!isLocked || !wait || wait.clock.monotonic() >= end) throw thrown;
    }
    await wait.clock.sleep(LOCK_RETRY_MS);
  }
}

export function openError(folder: string, message: string, cause: unknown): CodedError {
  return new StoreOpenError(message, { where: folder, cause });
}
