import type { Clock, Random, Timer } from './clock.ts';

interface SetTimer {
  readonly due: number;
  readonly order: number;
  readonly callback: () => void;
}

/**
 * Virtual time, which only `advance` moves. Timers that are due at the same time fire in the order in
 * which they were set.
 */
export class ManualClock implements Clock {
  #now: number;
  #order = 0;
  readonly #waiting = new Set<SetTimer>();
  readonly #start: number;
  #wallStep = 0;

  /** @param start wall-clock milliseconds since the epoch at which virtual time begins */
  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#start = start;
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  wallTime(): number {
    return this.#now + this.#wallStep;
  }

  monotonic(): number {
    return this.#now - this.#start;
  }

  timer(ms: number, callback: () => void): Timer {
    const entry: SetTimer = { due: this.#now + Math.max(0, ms), order: this.#order++, callback };
    this.#waiting.add(entry);
    return { cancel: () => this.#waiting.delete(entry) };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const abort = () => {
        timer.cancel();
        reject(signal?.reason);
      };
      const timer = this.timer(ms, () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      });
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  turn(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  /** Moves time forward without firing timers, as for a suspended process. */
  jump(ms: number): void {
    this.#now += ms;
  }

  /** Sets the wall clock forward, or back, as NTP does. */
  stepWallClock(ms: number): void {
    this.#wallStep += ms;
  }

  /** Number of timers that are set. */
  get pending(): number {
    return this.#waiting.size;
  }

  /** Moves time forward, fires due timers in order, and lets promises settle after each. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await this.turn();
    for (;;) {
      let next: SetTimer | undefined;
      for (const entry of this.#waiting) {
        if (entry.due > end) continue;
        if (!next || entry.due < next.due || (entry.due === next.due && entry.order < next.order))
          next = entry;
      }
      if (!next) break;
      this.#waiting.delete(next);
      this.#now = Math.max(this.#now, next.due);
      next.callback();
      await this.turn();
    }
    this.#now = end;
    await this.turn();
  }
}

/** A reproducible random source (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    bytes: (length) => Uint8Array.from({ length }, () => Math.floor(next() * 256)),
  };
}
