/**
 * The lock of the socket of VPP's binary API: of two contiv-inits that are started at once, both find no VPP, and
 * two VPPs would replace the sockets of each other. The kernel releases the lock when its process ends.
 */
import { closeSync, openSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import koffi from 'koffi';
import type { Clock } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import { createFolder } from '#infra/files/folder.ts';
import type { Logger } from '#infra/log/log.ts';
import { InitRunningError, RuntimeFolderError } from './errors.ts';

const flock = koffi.load(null).func('int flock(int file, int operation)') as (
  file: number,
  operation: number,
) => number;
const EXCLUSIVE_OR_FAIL = 2 | 4;

const POLL_MS = 100;
/** A contiv-init that is stopped ends within it. */
const LIMIT_MS = 30_000;

export class ApiSocketLock {
  readonly #clock: Clock;
  readonly #log: Logger;
  #file: number | undefined;

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Has no effect when it is taken already.
   * @throws InitRunningError, RuntimeFolderError, and the reason of `stop`
   */
  async take(socket: string, stop: AbortSignal): Promise<void> {
    if (this.#file !== undefined) return;
    const path = `${socket}.lock`;
    const file = openLockFile(path);
    try {
      await this.#lock(file, path, stop);
    } catch (error) {
      closeSync(file);
      throw error;
    }
    this.#file = file;
  }

  release(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  async #lock(file: number, path: string, stop: AbortSignal): Promise<void> {
    const end = this.#clock.monotonic() + LIMIT_MS;
    for (let isWaiting = false; flock(file, EXCLUSIVE_OR_FAIL) !== 0; isWaiting = true) {
      const errno = koffi.errno();
      if (errno !== constants.errno.EWOULDBLOCK) throw new Error(`flock ${path}: errno ${errno}`);
      if (this.#clock.monotonic() >= end)
        throw new InitRunningError('another contiv-init runs on this node', { where: path });
      if (!isWaiting) this.#log.warn({ path }, 'waiting for the end of another contiv-init');
      await this.#clock.sleep(POLL_MS, stop);
    }
  }
}

/** @throws RuntimeFolderError */
function openLockFile(path: string): number {
  try {
    createFolder(dirname(path));
    return openSync(path, 'a', 0o600);
  } catch (cause) {
    throw new RuntimeFolderError(`cannot create the lock file: ${errorText(cause)}`, {
      where: path,
      cause,
    });
  }
}
