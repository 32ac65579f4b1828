import type { Clock } from '../clock/clock.ts';

/** npm forwards Ctrl-C, which the agent also gets from the terminal: two signals for one. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Resolves with the first termination signal; a later one exits the process at once, with code 1.
 * SIGHUP is one of them: the terminal was closed.
 */
export function terminationSignal(clock: Pick<Clock, 'monotonic'>): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let first: number | undefined;
  const onSignal = (signal: string): void => {
    const now = clock.monotonic();
    first ??= now;
    if (now - first > SAME_SIGNAL_MS) process.exit(1);
    resolve(signal);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  process.on('SIGHUP', onSignal);
  return promise;
}
