import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Ends a process with SIGKILL, if it runs. */
export async function endChild(running: ChildProcess | undefined): Promise<void> {
  if (!running || running.exitCode !== null || running.signalCode !== null) return;
  const exit = once(running, 'exit');
  running.kill('SIGKILL');
  await exit;
}
