/**
 * A scenario as data: the southbound, the steps, and the state that is expected after each step, as
 * lines in the notation of `notation.ts`.
 */
import type { RetryPolicy } from '#kvscheduler/api/transaction.ts';

export interface Scenario {
  readonly name: string;
  readonly descriptors: readonly MockDescriptor[];
  /** Values of the southbound before the scheduler is created. */
  readonly before?: SouthboundChange;
  readonly steps: readonly Step[];
}

/**
 * A list is a base value that derives a value for each of its items: `item1` gives the text `item1`
 * under `<key>/item1`, `item1=x` gives the text `x` there. A text derives nothing.
 */
export type MockValue = readonly string[] | string;

export interface MockDescriptor {
  readonly name: string;
  /** All keys `<prefix><name>`, and the derived values `<prefix><name>/<item>`. */
  readonly prefix: string;
  /** Metadata of the first created value; default: 0. */
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

export interface MockStoredValue {
  readonly value: MockValue;
  /** Metadata. */
  readonly number?: number;
  /** Not created by the scheduler. */
  readonly unmanaged?: boolean;
}

/** Values that the southbound changes by itself; null: deleted. */
export type SouthboundChange = Readonly<Record<string, MockStoredValue | null>>;

export interface PlannedFailure {
  /** The next call that reads `VERB key` fails … */
  readonly call: string;
  readonly error: string;
  /** … and changes the southbound so. */
  readonly leaves?: SouthboundChange;
}

export type Values = Readonly<Record<string, MockValue | null>>;

export type StepAction =
  | {
      readonly commit: Values;
      /** A full resync: all other values are deleted. */
      readonly resync?: true;
      readonly revert?: true;
      readonly retry?: RetryPolicy;
      readonly description?: string;
    }
  /** The southbound changes values and reports them. */
  | { readonly notify: SouthboundChange }
  /** Milliseconds of virtual time. */
  | { readonly pass: number };

export interface Step {
  readonly title: string;
  /** Differences to the Go agent, with their reasons. */
  readonly unlike?: readonly string[];
  readonly fails?: readonly PlannedFailure[];
  readonly does: StepAction;
  readonly expect: Expectation;
}

export interface Expectation {
  /** `key (OPERATION): error`; absent: none. */
  readonly failures?: readonly string[];
  /** The only record of the step. */
  readonly record: ExpectedRecord;
  /** `descriptor: values to correlate`; absent: nothing is read back. */
  readonly retrieves?: readonly string[];
  /** All values of the southbound. */
  readonly content: Readonly<Record<string, string>>;
  /** Every value that the scheduler knows. */
  readonly status: Readonly<Record<string, string>>;
  /** How many revisions of the graph's nodes have which flag. */
  readonly flags: readonly string[];
}

export interface ExpectedRecord {
  /** Arguments. */
  readonly values: readonly string[];
  /** Absent: as `executed`. */
  readonly planned?: readonly string[];
  readonly executed: readonly string[];
  /** Sequence number of the transaction that is retried, and the number of the attempt. */
  readonly retry?: { readonly of: number; readonly attempt: number };
}
