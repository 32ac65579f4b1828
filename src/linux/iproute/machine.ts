/** Files, devices, programs and modules of the machine that the agent runs on. */
import { access, constants, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Clock } from '#infra/clock/clock.ts';
import { runProcess } from './process.ts';

export interface Machine {
  /** @returns undefined if the file does not exist or is not readable */
  read(path: string): Promise<string | undefined>;
  /** @throws the error of the kernel */
  write(path: string, text: string): Promise<void>;
  /** Names in a folder; none if it does not exist. */
  list(path: string): Promise<readonly string[]>;
  /** Whether a character device exists that can be opened for reading and writing. */
  isDevice(path: string): Promise<boolean>;
  hasProgram(name: string): Promise<boolean>;
  /** Loads a kernel module. A failure is not reported: check for the module's device instead. */
  loadModule(name: string): Promise<void>;
}

const MODPROBE_LIMIT_MS = 5_000;
/** Folders that may be missing in the PATH of a service. */
const systemFolders = ['/usr/sbin', '/sbin', '/usr/bin', '/bin'];

export function thisMachine(clock: Clock): Machine {
  const allowed = (path: string, mode: number): Promise<boolean> =>
    access(path, mode).then(
      () => true,
      () => false,
    );
  return {
    read: (path) => readFile(path, 'utf8').catch(() => undefined),
    write: (path, text) => writeFile(path, text),
    list: (path) => readdir(path).catch(() => []),
    async isDevice(path) {
      const found = await stat(path).catch(() => undefined);
      return found?.isCharacterDevice() === true && allowed(path, constants.R_OK | constants.W_OK);
    },
    async hasProgram(name) {
      const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...systemFolders];
      for (const folder of folders)
        if (await allowed(join(folder, name), constants.X_OK)) return true;
      return false;
    },
    async loadModule(name) {
      const request = { command: 'modprobe', args: [name], files: [], limitMs: MODPROBE_LIMIT_MS };
      await runProcess(clock, request).catch(() => undefined);
    },
  };
}
