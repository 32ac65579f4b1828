/** Starts a program so that it ends with this one, or detached from it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Readable } from 'node:stream';
import { isMainThread } from 'node:worker_threads';
import { defineError, errorText } from '../errors/errors.ts';
import type { ProcessOptions, ProcessOutput } from './process-options.ts';

export const ProcessStartError = defineError({
  name: 'ProcessStartError',
  code: 'CV_PROCESS_START',
  remedy:
    'Check that the program is installed and executable, and that the machine has free processes and files.',
});

/**
 * Node.js cannot set the signal that a process gets when its parent ends, so `setpriv` does it; the
 * ID of the process stays the same. The shell then ends the process if the parent has ended before,
 * because there is no signal for that. The kernel drops the signal when the program has a set-user-ID
 * bit or file capabilities.
 */
const ATTACHED_SCRIPT = '[ "$PPID" = "$0" ] && exec "$@"';

/** Variables that shells set or change; afterwards they are again as they were given. */
const shellVariables = ['PWD', 'OLDPWD', 'SHLVL', '_'];

/**
 * @returns without an ID when the kernel has refused it: `startError` says why
 * @throws ProcessStartError
 */
export function startChild(name: string, command: string, options: ProcessOptions): ChildProcess {
  const { args = [], detach = false, env, output, errorOutput } = options;
  // The kernel sends the signal when the thread ends that has started the process.
  if (!detach && !isMainThread)
    throw new ProcessStartError('only the main thread can start a process that ends with it', {
      where: name,
    });
  const program = findProgram(name, command, env?.['PATH']);
  const opened: number[] = [];
  const stream = (target: ProcessOutput | undefined): 'ignore' | 'inherit' | 'pipe' | number => {
    if (target === undefined) return 'ignore';
    if (target === 'inherit' || !('file' in target)) return target === 'inherit' ? target : 'pipe';
    const file = openSync(target.file, 'a', 0o640);
    opened.push(file);
    return file;
  };
  try {
    const [first, ...rest] = [...(detach ? [] : attachedPrefix(name, env)), program, ...args];
    const child = spawn(first!, rest, {
      stdio: ['ignore', stream(output), stream(errorOutput)],
      detached: detach,
      ...(env && { env }),
    });
    child.on('error', () => undefined);
    forward(child.stdout, output);
    forward(child.stderr, errorOutput);
    if (detach) child.unref();
    return child;
  } catch (cause) {
    throw new ProcessStartError(`cannot start ${program}: ${errorText(cause)}`, {
      where: name,
      cause,
    });
  } finally {
    for (const file of opened) closeSync(file);
  }
}

/** The command that starts a program so that it ends with this one. */
function attachedPrefix(
  name: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string[] {
  const setpriv = findProgram(name, 'setpriv', undefined);
  const given = shellVariables.filter((one) => env[one] !== undefined);
  const others = shellVariables.filter((one) => env[one] === undefined);
  const variables = [
    ...others.flatMap((one) => ['-u', one]),
    ...given.map((one) => `${one}=${env[one]}`),
  ];
  return [
    ...[setpriv, '--pdeathsig', 'KILL', '--', '/bin/sh', '-c', ATTACHED_SCRIPT, `${process.pid}`],
    // `env` would take the path of a program for a variable if it contains "="
    ...[findProgram(name, 'env', undefined), ...variables, setpriv, '--'],
  ];
}

/** Why the kernel has refused a new process. */
export async function startError(name: string, child: ChildProcess): Promise<Error> {
  const [cause]: unknown[] = await once(child, 'error');
  return new ProcessStartError(`cannot start a process: ${errorText(cause)}`, {
    where: name,
    cause,
  });
}

/** The stream stays open for the next start. */
function forward(from: Readable | null, to: ProcessOutput | undefined): void {
  if (from === null || typeof to !== 'object' || 'file' in to) return;
  from.on('error', () => undefined);
  from.pipe(to, { end: false });
}

/** @throws ProcessStartError */
function findProgram(name: string, command: string, searched: string | undefined): string {
  const path = searched ?? process.env['PATH'] ?? '/usr/bin:/bin';
  const candidates = command.includes('/')
    ? [command]
    : path.split(delimiter).map((folder) => join(folder, command));
  const found = candidates.find(isProgram);
  if (found === undefined)
    throw new ProcessStartError(`there is no program ${command}`, { where: name });
  return found;
}

/** @throws ProcessStartError when there is no such program */
export function checkProgram(name: string, command: string): void {
  findProgram(name, command, undefined);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
