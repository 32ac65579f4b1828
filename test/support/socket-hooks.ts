import { spawnSync } from 'node:child_process';
import { BpfMap } from '#linux/bpf/map.ts';

/** Whether this machine lets tests mount a bpf file system and control groups of version 2, and make maps. */
export function hasSocketHooks(): boolean {
  const script = 'mount -t bpf none /mnt && mount -t cgroup2 none /mnt';
  if (spawnSync('unshare', ['--mount', 'sh', '-c', script]).status !== 0) return false;
  try {
    BpfMap.create('cv_test', { kind: 'hash', keyLength: 4, valueLength: 4, maxEntries: 1 }).close();
    return true;
  } catch {
    return false;
  }
}
