import { Level } from 'level';
import type { Clock } from '#infra/clock/clock.ts';
import { type CodedError, defineError, errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';

export const StoreOpenError = defineError({
  name: 'StoreOpenError',
  code: 'CV_STORE_UNOPENABLE',
  remedy:
    'Check that the folder is writable and that no other agent uses it; else move the folder.',
});

/** Functions that the types of `level` omit, because its browser build does not have them. */
const maintenance = Level as unknown as {
  repair(folder: string): Promise<void>;
  destroy(folder: string): Promise<void>;
};

const LOCKED = 'LEVEL_LOCKED';

/** level wraps the errors of the database. */
function causeOf(thrown: unknown): unknown {
  return thrown instanceof Error ? (thrown.cause ?? thrown) : thrown;
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

async function attempt(folder: string): Promise<Level<string, string>> {
  const database = new Level<string, string>(folder);
  await database.open();
  return database;
}

/**
 * Opens a database folder and repairs it if necessary: a damaged index is rebuilt from the data
 * files; if that fails and the content is expendable as a whole, it is discarded. A folder that
 * another process has open is not changed.
 */
export async function openLevel(
  folder: string,
  expendable: boolean,
  log: Logger,
  wait?: LockWait,
): Promise<Level<string, string>> {
  try {
    return await openUnlocked(folder, wait);
  } catch (thrown) {
    const cause = causeOf(thrown);
    const code = codeOf(cause);
    if (code === LOCKED) throw openError(folder, 'another process has it open', thrown);
    // Other codes are errors of the file system, such as a missing permission: no repair helps.
    if (code !== 'LEVEL_CORRUPTION' && code !== 'LEVEL_IO_ERROR')
      throw openError(folder, errorText(cause), thrown);
    log.warn({ folder, error: errorText(cause) }, 'the database is damaged: repairing it');
  }
  try {
    await maintenance.repair(folder);
    return await attempt(folder);
  } catch (thrown) {
    if (!expendable) throw openError(folder, `repair failed: ${errorText(thrown)}`, thrown);
    log.warn(
      { folder, error: errorText(thrown) },
      'repairing the database failed: starting with an empty one',
    );
  }
  try {
    await maintenance.destroy(folder);
    return await attempt(folder);
  } catch (thrown) {
    throw openError(folder, errorText(thrown), thrown);
  }
}

/** Opens a folder, and waits while another process has it open. */
async function openUnlocked(folder: string, wait?: LockWait): Promise<Level<string, string>> {
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

function openError(folder: string, message: string, cause: unknown): CodedError {
  return new StoreOpenError(message, { where: folder, cause });
}
