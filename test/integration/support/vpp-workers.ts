/** Workers of a VPP on a machine that has fewer cores than threads. */

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** In startup.conf: plain threads, which are not pinned to cores. */
export function workerConfiguration(workers: number): string {
  return workers === 0 ? '' : `cpu { use-pthreads workers ${workers} }\n`;
}

/**
 * Prefix of VPP's command with which it finds a core for each of its threads: VPP refuses to start with
 * more threads than cores, even if they are not pinned. It alone sees another list of cores.
 */
export function withCoresFor(workers: number, folder: string): readonly string[] {
  if (workers === 0 || availableParallelism() > workers) return [];
  const list = join(folder, 'cores');
  writeFileSync(list, `0-${workers}\n`);
  // slave: namespaces that are mounted later are visible to VPP, too
  const isolated = ['unshare', '--mount', '--propagation', 'slave', 'sh', '-c'];
  const file = '/sys/devices/system/cpu/online';
  return [...isolated, `mount --bind ${list} ${file} && exec "$@"`, 'sh'];
}

/** Lets threads run on all cores: they start on the one to which VPP pins its main thread. */
export async function leaveCore(pid: number): Promise<void> {
  await run('taskset', [
    '--all-tasks',
    '--cpu-list',
    '--pid',
    `0-${availableParallelism() - 1}`,
    String(pid),
  ]);
}
