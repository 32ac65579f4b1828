/** The processor time of other processes. */
import { readFileSync } from 'node:fs';

/** Ticks of the kernel in a second, for programs: the same on all architectures that Node.js supports. */
const TICKS_PER_SECOND = 100;

/** Seconds of all threads since its start. */
export function cpuSecondsOf(pid: number): number {
  const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
  return (Number(afterName[11]) + Number(afterName[12])) / TICKS_PER_SECOND;
}
