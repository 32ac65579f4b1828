/**
 * Clock and random source for injection: only this folder may use the clock, timers and randomness of
 * Node.js (lint). Plugins, scheduler and event loop get these two objects, so that a whole agent can
 * run on virtual time and a recording can be replayed.
 */

/** A timer; canceling it after it has fired or was canceled has no effect. */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /**
   * Milliseconds since the Unix epoch for times of records: it follows the wall clock and never decreases, so that
   * they stay in order. After the wall clock was set back it is ahead for a while. The fraction carries microseconds.
   * Durations are those of `monotonic`.
   */
  now(): number;
  /**
   * Milliseconds since the Unix epoch, by a wall clock that may be set at any moment: for times that other
   * programs compare with theirs.
   */
  wallTime(): number;
  /** Milliseconds from an arbitrary origin, never decreasing: for durations and deadlines. */
  monotonic(): number;
  /** Calls back once after `ms` milliseconds. A timer alone does not keep the process alive. */
  timer(ms: number, callback: () => void): Timer;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Yields once to pending I/O, to cut long work on the main thread into slices. */
  turn(): Promise<void>;
}

export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** `length` random bytes. */
  bytes(length: number): Uint8Array;
}
