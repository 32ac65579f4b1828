import { spawn } from 'node:child_process';
import type { Clock } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import { LinuxError } from '../api.ts';

/** Result of one process. */
export interface ProcessResult {
  /** Undefined if it was killed. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}

export interface ProcessRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly input?: string;
  /** File descriptors that the process gets as 3, 4, …; `/proc/self/fd/3` is a path to the first. */
  readonly files: readonly number[];
  readonly limitMs: number;
}

/** Dumps of thousands of routes are far smaller; more output is considered an error. */
const MAXIMUM_OUTPUT = 64 * 1024 * 1024;

/**
 * Runs one process to its end. The process leads its own process group, so that the time limit also ends
 * its children.
 * @throws LinuxError if the program cannot be started (ENOENT: it is not installed)
 */
export function runProcess(clock: Clock, request: ProcessRequest): Promise<ProcessResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(request.command, request.args, {
      detached: true,
      env: { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin:/usr/bin:/bin`, LC_ALL: 'C' },
      stdio: ['pipe', 'pipe', 'pipe', ...request.files],
    });
    let timedOut = false;
    let size = 0;
    const kill = () => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // it has ended already
      }
    };
    const limit = clock.timer(request.limitMs, () => {
      timedOut = true;
      kill();
    });
    const collect = (chunks: Buffer[]) => (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAXIMUM_OUTPUT) kill();
      else chunks.push(chunk);
    };
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout!.on('data', collect(stdout));
    child.stderr!.on('data', collect(stderr));
    // EPIPE: the process ended before it had read everything; its exit code shows why
    child.stdin!.on('error', () => undefined);
    child.once('error', (cause: NodeJS.ErrnoException) => {
      limit.cancel();
      const missing = cause.code === 'ENOENT' ? 'is not installed' : 'cannot be started';
      reject(
        new LinuxError(`${request.command} ${missing} (${errorText(cause)})`, {
          cause,
          errno: cause.code,
        }),
      );
    });
    child.once('close', (code) => {
      limit.cancel();
      resolve({
        code: code ?? undefined,
        stdout: Buffer.concat(stdout).toString(),
        stderr: Buffer.concat(stderr).toString(),
        timedOut,
      });
    });
    child.stdin!.end(request.input ?? '');
  });
}
