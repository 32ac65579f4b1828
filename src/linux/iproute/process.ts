import { spawn } from 'node:child_process';
import type { Clock } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import { LinuxError } from '../api.ts';

/** How one process ended. */
export interface ProcessResult {
  /** Undefined when it was killed. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}

export interface ProcessRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly input?: string;
  /** Descriptors that the process finds as 3, 4, …; `/proc/self/fd/3` is a path to the first. */
  readonly files: readonly number[];
  readonly limitMs: number;
}

/** A dump of thousands of routes stays far below; more than this is not what we asked for. */
const MAXIMUM_OUTPUT = 64 * 1024 * 1024;

/**
 * Runs one process to its end. It leads a process group of its own, so that at the limit its
 * children end with it.
 * @throws LinuxError when the program cannot be started (ENOENT: it is not installed)
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
        // it ended just now
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
    // EPIPE: the process ended before it had read all; its exit says why.
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
