/**
 * A scenario as data: what the southbound is like, what happens step by step, and what has to be
 * seen after each step. What is expected is written in lines, in the notation of `notation.ts`.
 */
import type { RetryPolicy } from '#kvscheduler/api/transaction.ts';

export interface Scenario {
  readonly name: string;
  readonly descriptors: readonly MockDescriptor[];
  /** What stands in the southbound before the scheduler is born. */
  readonly before?: Happening;
  readonly steps: readonly Step[];
}

/**
 * A list is a base value that derives a value for each of its items: `item1` gives the text `item1`
 * under `<key>/item1`, `item1=x` gives the text `x` there. A text derives nothing.
 */
export type MockValue = readonly string[] | string;

export interface MockDescriptor {
  readonly name: string;
  /** All keys `<prefix><name>`, and what is derived from these: `<prefix><name>/<item>`. */
  readonly prefix: string;
  /** The first metadata to be given away; default: 0. */
  readonly firstNumber?: number;
  /** Derived values are properties: they have no descriptor. */
  readonly baseOnly?: true;
  /** Key to what it depends on: keys, or prefixes, which end with a slash. */
  readonly needs?: Readonly<Record<string, readonly string[]>>;
  /** Keys that cannot be changed in place. */
  readonly recreates?: readonly string[];
  /** It cannot be read back. */
  readonly blind?: true;
  /** Descriptors that are read back before. */
  readonly after?: readonly string[];
}

export interface Standing {
  readonly value: MockValue;
  /** Metadata. */
  readonly number?: number;
  /** Not made by the scheduler. */
  readonly foreign?: boolean;
}

/** What the southbound does by itself; null: gone. */
export type Happening = Readonly<Record<string, Standing | null>>;

export interface PlannedFailure {
  /** The next call that reads `VERB key` fails … */
  readonly call: string;
  readonly error: string;
  /** … and this is how it leaves the southbound. */
  readonly leaves?: Happening;
}

export type Values = Readonly<Record<string, MockValue | null>>;

export type Deed =
  | {
      readonly commit: Values;
      /** A full resync: what is not among the values shall go. */
      readonly resync?: true;
      readonly revert?: true;
      readonly retry?: RetryPolicy;
      readonly description?: string;
    }
  /** The southbound changes and tells. */
  | { readonly notify: Happening }
  /** Milliseconds in which nothing happens but what is due. */
  | { readonly pass: number };

export interface Step {
  readonly title: string;
  /** Where the Go agent does otherwise, and why it is right so. */
  readonly unlike?: readonly string[];
  readonly fails?: readonly PlannedFailure[];
  readonly does: Deed;
  readonly expect: Expectation;
}

export interface Expectation {
  /** `key (OPERATION): error`; absent: none. */
  readonly failures?: readonly string[];
  /** The one record that the step leaves. */
  readonly record: ExpectedRecord;
  /** `descriptor: what it is told to correlate`; absent: nothing is read back. */
  readonly retrieves?: readonly string[];
  /** All that stands in the southbound. */
  readonly content: Readonly<Record<string, string>>;
  /** Every value that the scheduler knows. */
  readonly status: Readonly<Record<string, string>>;
  /** How many revisions of the graph's nodes have which flag. */
  readonly flags: readonly string[];
}

export interface ExpectedRecord {
  /** Arguments. */
  readonly values: readonly string[];
  /** Absent: what is executed. */
  readonly planned?: readonly string[];
  readonly executed: readonly string[];
  /** Sequence number of the transaction that is repeated, and the how-many-eth time. */
  readonly retry?: { readonly of: number; readonly attempt: number };
}
