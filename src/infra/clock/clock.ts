/**
 * Time and chance as injected parts: the only folder of the project that may touch the ambient
 * clock, timers and randomness (lint). Plugins, scheduler and event loop get these two objects, so
 * that a whole agent runs on virtual time and a recorded run can be replayed.
 */

/** A timer that was set; cancelling one that has fired or was cancelled does nothing. */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch; the fraction carries microseconds. */
  now(): number;
  /** Milliseconds from an arbitrary origin, never going back: for durations and deadlines. */
  monotonic(): number;
  /** Calls back once after `ms` milliseconds. A timer alone does not keep the process alive. */
  timer(ms: number, callback: () => void): Timer;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Gives way to pending I/O once: how long work on the main thread is cut into slices. */
  turn(): Promise<void>;
}

export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** `length` random bytes. */
  bytes(length: number): Uint8Array;
}
