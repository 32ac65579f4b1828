/** Which network namespaces VPP reaches by the paths of the agent, through the file system of its process. */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import type { NamespaceSight } from './descriptors/options.ts';
import type { VppProcess } from './stats/statistics.ts';

const MAIN_THREAD = 'vpp_main';

/**
 * The kernel follows a symbolic link in the file system of VPP from the root of the agent, so the place that the
 * path leads to is compared as well. Without a common PID namespace the number is that of another process.
 * @param procRoot `/proc`, but in tests
 */
export function namespaceSight(process: VppProcess, procRoot = '/proc'): NamespaceSight {
  return {
    async sees(path) {
      const folder = `${procRoot}/${await process.pid()}`;
      try {
        if (readFileSync(`${folder}/comm`, 'utf8').trim() !== MAIN_THREAD) return false;
        const { dev, ino } = statSync(path);
        return [path, realpathSync(path)].every((place) => {
          const there = statSync(`${folder}/root${place}`);
          return there.dev === dev && there.ino === ino;
        });
      } catch {
        // no such process or path, or the kernel denies access to the process
        return false;
      }
    },
  };
}
