import type { Clock } from './clock.ts';

/** The main thread must not be blocked for longer than 20 ms: the rest is for garbage collection. */
const SLICE_MS = 5;
/** The clock is read once for so many units of work. */
const UNITS_PER_CLOCK_READ = 16;

/**
 * Cuts long work on the main thread into slices: call `due` after each small unit of work, and await
 * `turn` when it returns true. A slice ends whenever the event loop turns, also when other code yields.
 */
export class Slices {
  readonly #clock: Clock;
  readonly #stretch: Stretch;
  #units = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#stretch = Stretch.of(clock);
  }

  /** Milliseconds of the longest stretch of work in slices so far, in which the event loop did not turn. */
  get longest(): number {
    return this.#stretch.longest;
  }

  due(): boolean {
    if (this.#stretch.hasBegun && ++this.#units % UNITS_PER_CLOCK_READ !== 0) return false;
    return this.dueNow();
  }

  /** The same before a unit of work that may be large. */
  dueNow(): boolean {
    return this.#stretch.ms >= SLICE_MS;
  }

  /** Yields to pending input and output; a new slice begins. */
  turn(): Promise<void> {
    return this.#clock.turn();
  }

  /** Does the work for each item, one after the other, in slices; for items that it appends, too. */
  async each<T>(items: readonly T[], work: (item: T, index: number) => void): Promise<void> {
    for (let i = 0; i < items.length; i++) {
      if (this.due()) await this.turn();
      work(items[i] as T, i);
    }
  }
}

/**
 * The time since the event loop has turned. All slices of a clock share it: several pieces of work in one stretch do not add up,
 * and only the first one waits for the turn, which an event with its ten pieces would do ten times.
 */
class Stretch {
  static readonly #all = new WeakMap<Clock, Stretch>();
  readonly #clock: Clock;
  #began = 0;
  #hasBegun = false;
  #longest = 0;

  static of(clock: Clock): Stretch {
    let stretch = Stretch.#all.get(clock);
    if (!stretch) {
      stretch = new Stretch(clock);
      Stretch.#all.set(clock, stretch);
    }
    return stretch;
  }

  private constructor(clock: Clock) {
    this.#clock = clock;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get longest(): number {
    return this.#longest;
  }

  /** Milliseconds; the first who asks begins it. */
  get ms(): number {
    const now = this.#clock.monotonic();
    if (!this.#hasBegun) this.#begin(now);
    return now - this.#began;
  }

  #begin(now: number): void {
    this.#hasBegun = true;
    this.#began = now;
    void this.#clock.turn().then(() => {
      this.#hasBegun = false;
      this.#longest = Math.max(this.#longest, this.#clock.monotonic() - this.#began);
    });
  }
}

const RUN_LENGTH = 2048;

/** Sorts a copy in slices: `Array.sort` on short runs, then merges them. Stable. */
export function sortInSlices<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  slices: Slices,
): Promise<T[]> {
  return sortRuns(items, (run) => run.sort(compare), compare, slices);
}

/** The same for texts, in the order of `<`: without a function that compares, `Array.sort` is twice as fast. */
export function sortTextsInSlices(texts: readonly string[], slices: Slices): Promise<string[]> {
  return sortRuns(texts, (run) => run.sort(), compareTexts, slices);
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

async function sortRuns<T>(
  items: readonly T[],
  sort: (run: T[]) => T[],
  compare: (a: T, b: T) => number,
  slices: Slices,
): Promise<T[]> {
  let runs: T[][] = [];
  for (let i = 0; i < items.length; i += RUN_LENGTH) {
    runs.push(sort(items.slice(i, i + RUN_LENGTH)));
    if (slices.dueNow()) await slices.turn();
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
  // Runs that are in order already are only joined.
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
  items: readonly T[],
  test: (item: T) => boolean,
  slices: Slices,
): Promise<T[]> {
  const found: T[] = [];
  await slices.each(items, (item) => {
    if (test(item)) found.push(item);
  });
  return found;
}
