/**
 * What a descriptor is: how the scheduler learns to create, change, delete and read back one kind
 * of value, and in which relations these values stand. A descriptor cannot start a transaction: it
 * is given no way to.
 */

import { CodedError, type ErrorDetails } from '#infra/errors/errors.ts';
import type { Fields } from '#infra/idxmap/idxmap.ts';
import type { Value } from './transaction.ts';

/** Needed by a value before it can exist. All of a value's dependencies must be met. */
export interface Dependency {
  /** Unique among the dependencies of one value; shown while the value is pending. */
  readonly label: string;
  /** One key that must be available … */
  readonly key?: string;
  /** … or else any key with one of these prefixes (and, if given, accepted by `accepts`). */
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
   * names by its key.
   * @throws UndeclaredReadError for anything else, because the scheduler would not know to wait for it
   * @throws NoMetadataError when that value has none
   */
  metadata<M>(key: string): M;
}

/** What `retrieve` may look at: metadata of descriptors that it names in `retrieveDependencies`. */
export interface RetrieveContext {
  /**
   * All (key, metadata) pairs that the named descriptor has just retrieved, or, where it was not
   * asked or did not answer, those that are known.
   * @throws UndeclaredReadError when the name is not among `retrieveDependencies`
   */
  retrieved<M>(descriptor: string): ReadonlyMap<string, M>;
  /**
   * Set when only these keys are of interest (they failed and are read back): whoever can ask the
   * southbound for less may; whatever else is returned is ignored.
   */
  readonly only?: ReadonlySet<string>;
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
  /** Secondary indexes of the descriptor's metadata map, whose names are the labels. */
  readonly metadataFields?: (metadata: M) => Fields;
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
   * @param correlate what is wanted or known, to recover what the southbound does not store; all of
   *   it, whatever is of interest
   */
  readonly retrieve?: (
    correlate: readonly KeyedValue<V>[],
    ctx: RetrieveContext,
  ) => Promise<readonly RetrievedValue<V, M>[]>;
  /**
   * Values that exist as long as this one; depends on the value alone. Derived values derive
   * nothing themselves, and nothing may need what is derived from itself: it would stay pending.
   */
  readonly derived?: (key: string, value: V) => readonly KeyedValue[];
  readonly dependencies?: (key: string, value: V) => readonly Dependency[];
  /** Descriptors that are read back before this one. */
  readonly retrieveDependencies?: readonly string[];
  /**
   * Names of southbound resources that the value occupies alone (`vrf1/10.1.1.2/32`, `netns/eth0`).
   * A value that gives a name up goes before the value that takes it; of two values that want one
   * name, the one that has it keeps it (else the first by key), and the other is pending until it
   * is free.
   */
  readonly claims?: (key: string, value: V) => readonly string[];
  /**
   * Whether an operation that failed with this error is worth a retry; default: yes. An error whose
   * trait `isRetriable` is false is never retried.
   */
  readonly isRetriable?: (error: Error) => boolean;
}

/** A set of descriptors that a southbound hands to the agent's wiring. */
// biome-ignore lint/suspicious/noExplicitAny: descriptors of many value types stand in one list
export type AnyDescriptor = KvDescriptor<any, any>;

/** A value that the southbound itself reports: made, changed or (null) gone without our doing. */
export interface NotifiedValue {
  readonly key: string;
  readonly value: Value | null;
  readonly metadata?: unknown;
}

/** Where a southbound reports what changed by itself. */
export interface NotificationSink {
  /**
   * Never waits and never fails: what is reported before the scheduler comes to it is merged, the
   * latest report of a key counts. A pair is ignored when no descriptor owns its key or when the
   * value is managed from the northbound.
   */
  pushNotification(pairs: readonly NotifiedValue[]): void;
}

/** What `validate` throws. */
export class InvalidValueError extends CodedError {
  readonly code = 'CV_SCHED_INVALID_VALUE';
  readonly remedy = 'Correct the value under this key; it is not configured until it changes.';
  override readonly name = 'InvalidValueError';
  /** Names of the wrong fields; shown in the value's status. */
  readonly fields: readonly string[];

  constructor(
    message: string,
    details: ErrorDetails & { readonly fields?: readonly string[] } = {},
  ) {
    const fields = details.fields ?? [];
    super(`${fieldsText(fields)}${message}`, details);
    this.fields = fields;
  }
}

function fieldsText(fields: readonly string[]): string {
  if (fields.length === 0) return '';
  if (fields.length === 1) return `field ${fields[0]} is invalid: `;
  return `fields [${fields.join(' ')}] are invalid: `;
}
