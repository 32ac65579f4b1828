import { rmSync } from 'node:fs';
import type { Logger } from '#infra/log/log.ts';
import { isAnswered } from '#infra/process/socket.ts';

/**
 * Removes a socket on which no process listens. A failure is logged, and no reason to end VPP: the agent fails at the
 * same path, says why, and is restarted.
 */
export async function removeStaleSocket(path: string, log: Logger): Promise<void> {
  if (await isAnswered(path)) return;
  try {
    rmSync(path, { force: true });
  } catch (error) {
    log.warn({ path, err: error }, 'cannot remove the socket path of the previous agent');
  }
}
