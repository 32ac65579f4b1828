/** Reads the files of the kernel about a process, in /proc. */
import { readFileSync } from 'node:fs';

/** States of a process that exists, in the words of `/proc/<pid>/status`. */
const states = {
  R: 'running',
  S: 'sleeping',
  D: 'disk sleep',
  T: 'stopped',
  t: 'tracing stop',
  I: 'idle',
  P: 'parked',
  Z: 'zombie',
  X: 'terminated',
} as const;

export type KernelState = (typeof states)[keyof typeof states];

export interface ProcStat {
  /** undefined: a state that this build does not know. */
  readonly state: KernelState | undefined;
  /** Clock ticks between the boot and the start: together with the ID it identifies a process. */
  readonly startTicks: number;
}

/** Field 22 of the file; the first one after the name is field 3. */
const START_TIME = 22 - 3;

/** `/proc/<pid>/stat`; undefined when there is no such process, or its file cannot be read. */
export function readStat(pid: number): ProcStat | undefined {
  const text = readProc(pid, 'stat');
  if (text === undefined) return undefined;
  // the name may contain spaces and parentheses
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [letter = ''] = fields;
  const startTicks = Number(fields[START_TIME]);
  if (!Number.isSafeInteger(startTicks)) return undefined;
  return {
    state: letter in states ? states[letter as keyof typeof states] : undefined,
    startTicks,
  };
}

/** Fields of `/proc/<pid>/status` by name, such as `VmRSS`; undefined when it cannot be read. */
export function readStatusFile(pid: number): Readonly<Record<string, string>> | undefined {
  const text = readProc(pid, 'status');
  if (text === undefined) return undefined;
  const fields = text.split('\n').flatMap((line) => {
    const colon = line.indexOf(':');
    return colon < 0 ? [] : [[line.slice(0, colon), line.slice(colon + 1).trim()] as const];
  });
  return Object.fromEntries(fields);
}

/** Of the user space of Linux, on every architecture. */
const TICKS_PER_SECOND = 100;

/** Milliseconds since the start of a process. */
export function ageMs({ startTicks }: ProcStat): number {
  const [uptime] = readFileSync('/proc/uptime', 'utf8').split(' ');
  return Math.max(0, Number(uptime) * 1000 - (startTicks * 1000) / TICKS_PER_SECOND);
}

function readProc(pid: number, file: 'stat' | 'status'): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}
