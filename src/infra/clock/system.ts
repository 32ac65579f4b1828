import { randomBytes } from 'node:crypto';
import type { Clock, Random } from './clock.ts';
import { steadyWallClock } from './wall-clock.ts';

/** Node.js fires timers with a longer delay at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** Like setTimeout, for any delay. */
function later(ms: number, callback: () => void, keepsAlive: boolean): { cancel(): void } {
  let handle: NodeJS.Timeout;
  const wait = (left: number): void => {
    const next = left > LONGEST_MS ? () => wait(left - LONGEST_MS) : callback;
    handle = setTimeout(next, Math.min(left, LONGEST_MS));
    if (!keepsAlive) handle.unref();
  };
  wait(ms);
  return { cancel: () => clearTimeout(handle) };
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: steadyWallClock(Date.now, () => performance.now()),
  wallTime: () => Date.now(),
  monotonic: () => performance.now(),
  timer: (ms, callback) => later(ms, callback, false),
  sleep(ms, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const abort = () => {
        waiting.cancel();
        reject(signal?.reason);
      };
      const ended = (): void => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      const waiting = later(ms, ended, true);
      signal?.addEventListener('abort', abort, { once: true });
    });
  },
  turn: () => new Promise((resolve) => setImmediate(resolve)),
};

/** The machine's source of randomness. */
export const systemRandom: Random = {
  next: () => Math.random(),
  bytes: (length) => randomBytes(length),
};
