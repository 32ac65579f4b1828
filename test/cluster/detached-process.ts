/**
 * A process that continues after the command that started it. A file tells later commands its id and when
 * it started, so that none ends a process that has got the id since.
 */
import { spawn } from 'node:child_process';
import { existsSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { folderOf } from './folder.ts';

interface Identity {
  readonly pid: number;
  /** Ticks after the start of the machine. */
  readonly started: string;
}

const TERM_LIMIT_MS = 10_000;

const fileOf = (name: string): string => join(folderOf('run/processes'), name);

export const logOf = (name: string): string => join(folderOf('run/logs'), `${name}.log`);

export function startDetached(name: string, command: readonly string[]): void {
  const log = openSync(logOf(name), 'a');
  const [program, ...args] = command;
  const child = spawn(program!, args, { detached: true, stdio: ['ignore', log, log] });
  child.unref();
  const pid = child.pid!;
  const identity: Identity = { pid, started: startOf(pid)! };
  writeFileSync(fileOf(name), JSON.stringify(identity));
}

/** Id of the process; undefined when it has ended. */
export function pidOf(name: string): number | undefined {
  if (!existsSync(fileOf(name))) return undefined;
  const { pid, started }: Identity = JSON.parse(readFileSync(fileOf(name), 'utf8'));
  return startOf(pid) === started ? pid : undefined;
}

/** Names of those that were started and not stopped. */
export const detachedNames = (): string[] => readdirSync(folderOf('run/processes'));

/** Resolves when it has ended. @param signal SIGTERM is followed by SIGKILL after ten seconds */
export async function stopDetached(name: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const end = performance.now() + TERM_LIMIT_MS;
  let next = signal;
  for (let pid = pidOf(name); pid !== undefined; pid = pidOf(name)) {
    if (performance.now() > end) next = 'SIGKILL';
    try {
      process.kill(pid, next);
    } catch {
      // It has ended since.
    }
    await sleep(100);
  }
  rmSync(fileOf(name), { force: true });
}

function startOf(pid: number): string | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    // A process whose parent has not waited for it has ended.
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}
