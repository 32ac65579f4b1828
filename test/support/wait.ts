import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Only a condition that never holds reaches it: on a busy machine everything takes ten times as long. */
const LIMIT_MS = 60_000;

const PAUSE_MS = 20;

/** Polls until the condition holds. @throws when it does not within the limit */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  limitMs = LIMIT_MS,
  pauseMs = PAUSE_MS,
): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not within ${limitMs / 1000} s: ${what}`);
    await sleep(pauseMs);
  }
}

/** Repeats assertions until they hold. @throws what they throw, when they do not within the limit */
export async function eventually(
  assertions: () => void | Promise<void>,
  limitMs = LIMIT_MS,
): Promise<void> {
  const end = performance.now() + limitMs;
  for (;;) {
    try {
      return await assertions();
    } catch (thrown) {
      if (performance.now() > end) throw thrown;
    }
    await sleep(PAUSE_MS);
  }
}

/** Whether a unix socket accepts connections. */
export function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
