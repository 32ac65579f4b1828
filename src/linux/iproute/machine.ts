/** Files, devices, programs and modules of the machine that the agent runs on. */
import { access, constants, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Clock } from '#infra/clock/clock.ts';
import { runProcess } from './process.ts';

export interface Machine {
  /** @returns undefined when the file is not there or may not be read */
  read(path: string): Promise<string | undefined>;
  /** @throws what the kernel says */
  write(path: string, text: string): Promise<void>;
  /** Names in a folder; none when it is not there. */
  list(path: string): Promise<readonly string[]>;
  /** Whether a character device is there that may be opened for both directions. */
  isDevice(path: string): Promise<boolean>;
  hasProgram(name: string): Promise<boolean>;
  /** Asks the kernel for a module; that it is not there shows in what it would have brought. */
  loadModule(name: string): Promise<void>;
}

const MODPROBE_LIMIT_MS = 5_000;
/** Where programs stand that a service may not have in its PATH. */
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
