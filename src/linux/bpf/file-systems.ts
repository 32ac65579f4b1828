/** The file systems of the machine that programs and maps need. */
import { existsSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** Types of file systems, of `statfs(2)`. */
const CGROUP2 = 0x6367_7270;
const BPF = 0xcafe_4a11;

export interface BpfPlaces {
  /** Folder of control groups of version 2, of all processes of the machine. */
  readonly group: string;
}

/**
 * @param sysFs the folder /sys/fs of the machine
 * @returns text: the machine lacks one
 */
export function bpfPlaces(sysFs: string): BpfPlaces | string {
  const bpf = bpfFolder(sysFs);
  if (typeOf(bpf) !== BPF) return `${bpf} is not in a bpf file system`;
  const cgroup = join(sysFs, 'cgroup');
  // with control groups of both versions, those of version 2 are in a folder of the others
  const group = [cgroup, join(cgroup, 'unified')].find((one) => typeOf(one) === CGROUP2);
  return group === undefined ? `${cgroup} is not in control groups of version 2` : { group };
}

/** The bpf file system. */
export function bpfFolder(sysFs: string): string {
  return join(sysFs, 'bpf');
}

function typeOf(folder: string): number | undefined {
  return existsSync(folder) ? statfsSync(folder).type : undefined;
}
