import type { Clock } from '#infra/clock/clock.ts';

/** The aim is 20 ms: the rest is for what cannot be cut, which is garbage to be collected. */
const SLICE_MS = 5;
const UNITS_BETWEEN_LOOKS = 16;

/**
 * Cuts long work on the main thread into slices: ask `due` after each small unit of work, and wait
 * for `turn` when it says so. A stretch of work ends when the event loop comes round, whoever gave
 * way to it.
 */
export class Slices {
  readonly #clock: Clock;
  #began = 0;
  #working = false;
  #units = 0;
  #longest = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds of the longest stretch so far for which the event loop did not come round. */
  get longest(): number {
    return this.#longest;
  }

  due(): boolean {
    if (!this.#working) {
      this.#begin();
      return false;
    }
    if (++this.#units % UNITS_BETWEEN_LOOKS !== 0) return false;
    return this.#clock.monotonic() - this.#began >= SLICE_MS;
  }

  /** Gives way to pending input and output; a new slice begins. */
  turn(): Promise<void> {
    return this.#clock.turn();
  }

  #begin(): void {
    this.#working = true;
    this.#began = this.#clock.monotonic();
    void this.#clock.turn().then(() => {
      this.#working = false;
      this.#longest = Math.max(this.#longest, this.#clock.monotonic() - this.#began);
    });
  }
}

const RUN_LENGTH = 2048;

/** Sorts a copy in slices: short runs by the engine, then merges. Stable. */
export async function sortInSlices<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  slices: Slices,
): Promise<T[]> {
  let runs: T[][] = [];
  for (let i = 0; i < items.length; i += RUN_LENGTH) {
    runs.push(items.slice(i, i + RUN_LENGTH).sort(compare));
    if (slices.due()) await slices.turn();
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let i = 0; i < runs.length; i += 2) {
      const left = runs[i] as T[];
      const right = runs[i + 1];
      merged.push(right ? await merge(left, right, compare, slices) : left);
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
  slices: Slices,
): Promise<T[]> {
  // What comes in order is only joined.
  if (compare(left.at(-1) as T, right[0] as T) <= 0) return left.concat(right);
  const merged = new Array<T>(left.length + right.length);
  let i = 0;
  let j = 0;
  for (let at = 0; at < merged.length; at++) {
    if (slices.due()) await slices.turn();
    const isLeft =
      j === right.length || (i < left.length && compare(left[i] as T, right[j] as T) <= 0);
    merged[at] = (isLeft ? left[i++] : right[j++]) as T;
  }
  return merged;
}

export async function filterInSlices<T>(
  items: Iterable<T>,
  test: (item: T) => boolean,
  slices: Slices,
): Promise<T[]> {
  const found: T[] = [];
  for (const item of items) {
    if (slices.due()) await slices.turn();
    if (test(item)) found.push(item);
  }
  return found;
}

export function byKey(a: { readonly key: string }, b: { readonly key: string }): number {
  if (a.key === b.key) return 0;
  return a.key < b.key ? -1 : 1;
}
