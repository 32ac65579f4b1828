import { Level } from 'level';
import type { Clock } from '#infra/clock/clock.ts';
import { type CodedError, defineError, errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';

export const StoreOpenError = defineError({
  name: 'StoreOpenError',
  code: 'CV_STORE_UNOPENABLE',
  remedy: 'See that the folder is writable and that no other agent uses it; else move it away.',
});

/** Not in the types of `level`, which are those that its build for browsers shares. */
const maintenance = Level as unknown as {
  repair(folder: string): Promise<void>;
  destroy(folder: string): Promise<void>;
};

const LOCKED = 'LEVEL_LOCKED';

/** level wraps what the database says. */
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

/** How often a lock is tried that another process holds. */
const LOCK_RETRY_MS = 100;

async function attempt(folder: string): Promise<Level<string, string>> {
  const database = new Level<string, string>(folder);
  await database.open();
  return database;
}

/**
 * Opens a database folder and mends what can be mended: a damaged index is built anew from the data
 * files; if that fails and the content is expendable as a whole, it is thrown away.
 * A folder that another process holds is left alone.
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
    // What level did not say, the file system did (permission, a file in the way): not mendable.
    if (code !== 'LEVEL_CORRUPTION' && code !== 'LEVEL_IO_ERROR')
      throw openError(folder, errorText(cause), thrown);
    log.warn({ folder, error: errorText(cause) }, 'the database is damaged and gets repaired');
  }
  try {
    await maintenance.repair(folder);
    return await attempt(folder);
  } catch (thrown) {
    if (!expendable) throw openError(folder, `repair failed: ${errorText(thrown)}`, thrown);
    log.warn({ folder, error: errorText(thrown) }, 'repair failed; the database starts empty');
  }
  try {
    await maintenance.destroy(folder);
    return await attempt(folder);
  } catch (thrown) {
    throw openError(folder, errorText(thrown), thrown);
  }
}

/** Opens a folder that nobody else has open, or that is let go of in time. */
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
