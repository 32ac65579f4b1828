/**
 * What a descriptor is: how the scheduler learns to create, change, delete and read back one kind
 * of value, and in which relations these values stand. A descriptor cannot start a transaction: it
 * is given no way to.
 */
import type { Value } from '#eventloop/transaction.ts';
import { defineError } from '#infra/errors/errors.ts';

/** Needed by a value before it can exist. All of a value's dependencies must be met. */
export interface Dependency {
  /** Unique among the dependencies of one value; shown while the value is pending. */
  readonly label: string;
  /** One key that must be available … */
  readonly key?: string;
  /** … or any key with one of these prefixes (and, if given, accepted by `accepts`). */
  readonly anyOf?: {
    readonly prefixes: readonly string[];
    readonly accepts?: (key: string) => boolean;
  };
}

export interface KeyedValue<V extends Value = Value> {
  readonly key: string;
  readonly value: V;
}

export type Origin = 'unknown' | 'from-NB' | 'from-SB';

export interface RetrievedValue<V extends Value = Value, M = unknown> extends KeyedValue<V> {
  readonly metadata?: M | undefined;
  /** Who made it, if the descriptor can tell: `from-NB` is ours, `from-SB` is not. */
  readonly origin?: Origin | undefined;
}

/** What an operation may look at besides its own value. */
export interface OperationContext {
  /**
   * Metadata of another value: the base of a derived one, or a value that a declared dependency
   * names. Anything else throws, because the scheduler would not know to wait for it.
   */
  metadata<M>(key: string): M;
}

/** What `retrieve` may look at: metadata of descriptors that it names in `retrieveDependencies`. */
export interface RetrieveContext {
  /** All (key, metadata) pairs that the named descriptor has just retrieved. */
  retrieved<M>(descriptor: string): ReadonlyMap<string, M>;
}

/**
 * @typeParam V canonical value
 * @typeParam M metadata: run-time data that goes with a configured value, such as sw_if_index
 */
export interface KvDescriptor<V extends Value = Value, M = unknown> {
  /** Unique; appears in REST (`descriptor=`). */
  readonly name: string;
  /** Every key of this descriptor begins with one of these … */
  readonly keyPrefixes: readonly string[];
  /** … and is accepted here, when prefixes alone do not tell. */
  readonly ownsKey?: (key: string) => boolean;
  /** Full protobuf name of the value type, as records and dumps show it. */
  readonly typeName: string;
  /** Under which the northbound puts such values; derived values have none. */
  readonly nbKeyPrefix?: string;
  /** Short unique name of a value within the descriptor; default: the key. */
  readonly label?: (key: string) => string;
  /** JSON of a value for records and REST; default: the value itself. */
  readonly toJson?: (value: V) => unknown;
  /** Whether a change from `a` to `b` needs no operation; default: deep equality. */
  readonly equivalent?: (key: string, a: V, b: V) => boolean;
  /** Throws InvalidValueError. Run before create and update of values from the northbound. */
  readonly validate?: (key: string, value: V) => void;
  /** Makes the value exist. A create that fails half-way has undone its earlier steps. */
  readonly create?: (key: string, value: V, ctx: OperationContext) => Promise<M>;
  /** Changes it in place; absent: every change is a delete and a create. */
  readonly update?: (
    key: string,
    before: V,
    after: V,
    metadata: M,
    ctx: OperationContext,
  ) => Promise<M>;
  readonly delete?: (key: string, value: V, metadata: M, ctx: OperationContext) => Promise<void>;
  /** Whether this change has to be a delete and a create although `update` exists. */
  readonly needsRecreate?: (key: string, before: V, after: V, metadata: M) => boolean;
  /**
   * Reads back what exists, base values only; absent: what was configured is assumed to be there.
   * @param correlate what is wanted or known, to recover what the southbound does not store
   */
  readonly retrieve?: (
    correlate: readonly KeyedValue<V>[],
    ctx: RetrieveContext,
  ) => Promise<readonly RetrievedValue<V, M>[]>;
  /** Values that exist as long as this one; depends on the value alone. */
  readonly derived?: (key: string, value: V) => readonly KeyedValue[];
  readonly dependencies?: (key: string, value: V) => readonly Dependency[];
  /** Descriptors that are read back before this one. */
  readonly retrieveDependencies?: readonly string[];
  /**
   * Names of southbound resources that the value occupies (`vrf1/10.1.1.2/32`, `netns/eth0`). A
   * value that gives a name up goes before the value that takes it.
   */
  readonly claims?: (key: string, value: V) => readonly string[];
  /** Whether an operation that failed with this error is worth repeating; default: yes. */
  readonly isRetriable?: (error: Error) => boolean;
}

/** A set of descriptors that a southbound hands to the agent's wiring. */
// biome-ignore lint/suspicious/noExplicitAny: descriptors of many value types stand in one list
export type AnyDescriptor = KvDescriptor<any, any>;

export const InvalidValueError = defineError({
  name: 'InvalidValueError',
  code: 'CV_SCHED_INVALID_VALUE',
  remedy: 'Correct the value under this key; it is skipped until it changes.',
});
