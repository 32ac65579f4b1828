import type { Clock } from '#infra/clock/clock.ts';

/** Ctrl-C reaches the agent twice when npm has started it: from the terminal, and passed on. */
const SAME_SIGNAL_MS = 1_000;

/** Resolves with the first signal to end; a later one ends the process at once, as a failure. */
export function terminationSignal(clock: Pick<Clock, 'monotonic'>): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let first: number | undefined;
  const hear = (signal: string): void => {
    const now = clock.monotonic();
    first ??= now;
    if (now - first > SAME_SIGNAL_MS) process.exit(1);
    resolve(signal);
  };
  process.on('SIGINT', hear);
  process.on('SIGTERM', hear);
  return promise;
}
