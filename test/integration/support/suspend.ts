import { readdirSync, readFileSync } from 'node:fs';
import { until } from '#test/support/wait.ts';

/**
 * Suspends a process; resolves when each of its threads has stopped. The signal alone does not do:
 * a thread that is on a CPU may reply to another request before it stops.
 */
export async function suspend(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await until(`process ${pid} is suspended`, () => threads(pid).every((state) => state === 'T'));
}

export function resume(pid: number): void {
  process.kill(pid, 'SIGCONT');
}

/** State of each thread, as /proc names it. */
function threads(pid: number): string[] {
  return readdirSync(`/proc/${pid}/task`).map((id) => {
    const status = readFileSync(`/proc/${pid}/task/${id}/status`, 'utf8');
    return /^State:\s+(\S)/m.exec(status)![1]!;
  });
}
