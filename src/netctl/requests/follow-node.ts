import type { ClusterNode, CommandContext } from '../command.ts';
import { RequestError } from './request-failure.ts';

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;

/**
 * Follows something of a node until the user ends it: a node that does not answer is asked again, and reported once.
 * @param attempt ends when the node ends it; calls `answers` when it has got something
 */
export async function followNode(
  { clock, signal, warn }: CommandContext,
  { name }: ClusterNode,
  attempt: (answers: () => void) => Promise<void>,
): Promise<void> {
  let isReported = false;
  let retryMs = FIRST_RETRY_MS;
  const answers = (): void => {
    if (isReported) warn(`${name}: answers again`);
    isReported = false;
    retryMs = FIRST_RETRY_MS;
  };
  while (!signal.aborted) {
    try {
      await attempt(answers);
    } catch (thrown) {
      if (signal.aborted) return;
      if (!(thrown instanceof RequestError)) throw thrown;
      if (!isReported) warn(`${name}: ${thrown.failure.text}; trying again`);
      isReported = true;
      await clock.sleep(retryMs, signal).catch(() => undefined);
      retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
    }
  }
}
