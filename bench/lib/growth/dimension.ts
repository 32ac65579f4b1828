/** One quantity of which a cluster or a node may have many. */
export interface Dimension {
  readonly name: string;
  /** The initial load in words. */
  readonly load: string;
  /** Ascending, each four times the one before. */
  readonly sizes: readonly number[];
  /** Changes of which the CPU time is taken together: those of a scheduler are too short. */
  readonly batch: number;
  /** Prepares the input, whose cost does not count. @returns the initial load */
  prepare(size: number): Promise<() => Promise<Loaded>>;
}

export interface Loaded extends AsyncDisposable {
  readonly changes: Readonly<Record<string, Change>>;
}

export interface Change {
  /** Makes one change, a different one in each round. */
  readonly make: (round: number) => Promise<unknown>;
  /** Why it may cost O(N). Absent: it may not grow. */
  readonly isLinear?: string;
}
