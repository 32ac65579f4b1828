/** Files, devices and modules of the machine that the agent runs on. */
import { execFile } from 'node:child_process';
import { access, constants, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Clock } from '#infra/clock/clock.ts';

export interface Machine {
  /** @returns undefined if the file does not exist or is not readable */
  read(path: string): Promise<string | undefined>;
  /** @throws the error of the kernel */
  write(path: string, text: string): Promise<void>;
  /** Names in a folder; none if it does not exist. */
  list(path: string): Promise<readonly string[]>;
  /** Whether a character device exists that can be opened for reading and writing. */
  isDevice(path: string): Promise<boolean>;
  /** Loads a kernel module. A failure is not reported: check for the module's device instead. */
  loadModule(name: string): Promise<void>;
}

const MODPROBE_LIMIT_MS = 5_000;
/** Folders that may be missing in the PATH of a service. */
const SYSTEM_FOLDERS = '/usr/sbin:/sbin:/usr/bin:/bin';

export function thisMachine(clock: Clock): Machine {
  return {
    read: (path) => readFile(path, 'utf8').catch(() => undefined),
    write: (path, text) => writeFile(path, text),
    list: (path) => readdir(path).catch(() => []),
    async isDevice(path) {
      const found = await stat(path).catch(() => undefined);
      if (found?.isCharacterDevice() !== true) return false;
      return access(path, constants.R_OK | constants.W_OK).then(
        () => true,
        () => false,
      );
    },
    async loadModule(name) {
      const ending = new AbortController();
      const limit = clock.timer(MODPROBE_LIMIT_MS, () => ending.abort());
      const options = {
        env: { PATH: `${process.env['PATH'] ?? ''}:${SYSTEM_FOLDERS}` },
        signal: ending.signal,
      };
      await promisify(execFile)('modprobe', [name], options).catch(() => undefined);
      limit.cancel();
    },
  };
}
