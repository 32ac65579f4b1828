/** One run of a process, from its start until its end: a child of this program, or an attached process. */
import type { ChildProcess } from 'node:child_process';
import { Pidfd } from './pidfd.ts';
import { ageMs, type KernelState, type ProcStat, readStat } from './proc-file.ts';

/** How a process has ended; neither is known of an attached process. */
export interface ProcessEnd {
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
}

export interface ProcessRun {
  readonly pid: number;
  readonly isChild: boolean;
  /** Milliseconds since its start when the run was made. */
  readonly initialAgeMs: number;
  readonly ended: Promise<ProcessEnd>;
  /** State now; undefined when the kernel does not show it. Notices the end of an attached process. */
  poll(): KernelState | undefined;
  /** Has no effect on a process that has ended. */
  signal(signal: NodeJS.Signals): void;
  isAlive(): boolean;
  /** Gives back what a watched process needs. The process continues, and all calls remain possible. */
  release(): void;
}

export function childRun(child: ChildProcess): ProcessRun {
  const pid = child.pid!;
  const { promise: ended, resolve } = Promise.withResolvers<ProcessEnd>();
  child.once('exit', (code, signal) =>
    resolve({ code: code ?? undefined, signal: signal ?? undefined }),
  );
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  return {
    pid,
    isChild: true,
    initialAgeMs: 0,
    ended,
    isAlive,
    // Until this process has released the child, its ID is not used again.
    poll: () => (isAlive() ? readStat(pid)?.state : 'terminated'),
    signal: (signal) => void child.kill(signal),
    release: () => child.unref(),
  };
}

/** @returns undefined: no process has the ID */
export function attachedRun(pid: number, autoTerminate: boolean): ProcessRun | undefined {
  const handle = Pidfd.open(pid);
  if (!handle) return undefined;
  const first = readStat(pid);
  // The ID may be used again after the handle was opened.
  if (!first || !handle.send(0)) {
    handle.close();
    return undefined;
  }
  const { promise: ended, resolve } = Promise.withResolvers<ProcessEnd>();
  let isReleased = false;
  const send = (signal: NodeJS.Signals | 0): boolean =>
    isReleased ? sendTo(pid, first, signal) : handle.send(signal);
  const isAlive = () => send(0);
  const end = (): KernelState => {
    handle.close();
    resolve({ code: undefined, signal: undefined });
    return 'terminated';
  };
  return {
    pid,
    isChild: false,
    initialAgeMs: ageMs(first),
    ended,
    isAlive,
    poll: () => {
      if (!isAlive()) return end();
      const stat = readStat(pid);
      if (stat?.startTicks !== first.startTicks) return undefined;
      return stat.state === 'zombie' && autoTerminate ? end() : stat.state;
    },
    signal: (signal) => void send(signal),
    release: () => {
      handle.close();
      isReleased = true;
    },
  };
}

/** Without the handle of before: the ID may be that of another process by now. */
function sendTo(pid: number, { startTicks }: ProcStat, signal: NodeJS.Signals | 0): boolean {
  const handle = Pidfd.open(pid);
  try {
    return readStat(pid)?.startTicks === startTicks && handle?.send(signal) === true;
  } finally {
    handle?.close();
  }
}
