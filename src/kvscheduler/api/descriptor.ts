/**
 * A descriptor creates, updates, deletes and reads back one kind of value, and names the relations of
 * these values. It has no access to transactions, so it cannot start one.
 */

import { CodedError, type ErrorDetails } from '#infra/errors/errors.ts';
import type { Fields } from '#infra/idxmap/idxmap.ts';
import type { Value } from './transaction.ts';

/** A condition for a value to exist. All dependencies of a value must be met. */
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
  /** State of the object, which no value configures, for documents; the scheduler does not keep it. */
  readonly details?: unknown;
  /** Its creator, if the descriptor recognizes it: `from-NB` is managed, `from-SB` is unmanaged. */
  readonly origin?: Origin | undefined;
  /** Set if the object is there, but does not work: the reason, by which it is created again. */
  readonly broken?: string | undefined;
  /**
   * Its derived values that exist; default: all that the descriptor derives from the value. For those that exist
   * while nothing in the value shows them, such as the table of an interface whose addresses are pending.
   */
  readonly derived?: readonly KeyedValue[] | undefined;
}

/**
 * Something in the southbound that has to go or to be put right, and that no value describes: a reference to
 * an object that was deleted, or a mark that a crash has left wrong. Reading it back changes nothing;
 * a resync removes it by an operation with the key `leftover/<descriptor>/<name>`.
 */
export interface Leftover {
  /** Unique within the descriptor, and the same as long as the leftover stays. */
  readonly name: string;
  /** The fault, for plans and the drift. */
  readonly what: string;
  /** Values whose keys begin with one of these are created, changed and deleted after it is removed. */
  readonly precedes: readonly string[];
  /** The value that it is a part of: that one is not deleted before it is removed. */
  readonly of?: string | undefined;
  /**
   * Called when it is due, which may be long after the read-back if it failed before: values that it precedes
   * were created meanwhile. It succeeds without a change if the fault is not there any more.
   */
  remove(): Promise<unknown>;
}

/** The data that an operation may read besides its own value. */
export interface OperationContext {
  /**
   * Metadata of another value: the base of a derived one, or a value that a declared dependency
   * names by its key.
   * @throws UndeclaredReadError for any other value: the scheduler would not wait for it
   * @throws NoMetadataError when that value has none
   */
  metadata<M>(key: string): M;
  /**
   * The key that meets a dependency of the value, to read what it says: the first one that exists.
   * @param label of a dependency
   * @throws UndeclaredReadError if the value has no such dependency
   */
  metBy(label: string): string | undefined;
}

/** The data that `retrieve` may read: metadata of the descriptors in `retrieveDependencies`. */
export interface RetrieveContext {
  /**
   * All (key, metadata) pairs that the named descriptor has just retrieved; if it was not called or
   * failed, those that the scheduler knows.
   * @throws UndeclaredReadError when the name is not among `retrieveDependencies`
   */
  retrieved<M>(descriptor: string): ReadonlyMap<string, M>;
  /**
   * Whether the value exists as far as the scheduler knows: it was created or found before, the outcome of
   * its last operation is known, and the southbound is the one of the last whole read-back (`incarnation`).
   * For values that the southbound does not return while another one hides them.
   */
  isKnown(key: string): boolean;
  /**
   * Set when only these keys are read back, because they failed. A descriptor that can restrict its
   * request to them may do so; other keys in its result are ignored.
   */
  readonly only?: ReadonlySet<string>;
  /**
   * Metadata of a value of the descriptor from before the read-back: where to look for it first. The object may
   * be deleted since then.
   */
  known<M>(key: string): M | undefined;
  /** Reports what the descriptor found beside its values. */
  leftover(one: Leftover): void;
  /**
   * Identifies the read-back: one object for all descriptors that are called in it. What a descriptor
   * keeps for the others belongs to this object, because nothing of it is valid in the next read-back.
   */
  readonly readBack: object;
}

/**
 * The running transaction waits for `create`, `update`, `delete` and `retrieve`: they must not wait for
 * another one (SchedulerDeadlockError).
 *
 * @typeParam V canonical value
 * @typeParam M metadata: run-time data that goes with a configured value, such as sw_if_index
 */
export interface KvDescriptor<V extends Value = Value, M = unknown> {
  /** Unique; appears in REST (`descriptor=`). */
  readonly name: string;
  /** Every key of this descriptor begins with one of these … */
  readonly keyPrefixes: readonly string[];
  /** … and is accepted here, if the prefixes are not sufficient to decide. */
  readonly ownsKey?: (key: string) => boolean;
  /** Full protobuf name of the value type, as records and dumps show it. */
  readonly typeName: string;
  /** Key prefix of such values in the northbound; derived values have none. */
  readonly nbKeyPrefix?: string;
  /** Short unique name of a value within the descriptor; default: the key. */
  readonly label?: (key: string) => string;
  /** Secondary indexes of the descriptor's metadata map, whose names are the labels. */
  readonly metadataFields?: (metadata: M) => Fields;
  /** JSON of a value for records and REST; default: the value itself. */
  readonly toJson?: (value: V) => unknown;
  /** Whether a change from `a` to `b` needs no operation; default: deep equality. */
  readonly equivalent?: (key: string, a: V, b: V) => boolean;
  /** Throws InvalidValueError. Called before a value from the northbound is created or updated. */
  readonly validate?: (key: string, value: V) => void;
  /** Creates the value. A create that fails undoes its completed steps first. */
  readonly create?: (key: string, value: V, ctx: OperationContext) => Promise<M>;
  /** Changes the value in place; absent: every change is a delete and a create. */
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
   * Reads the actual base values; absent: configured values are assumed to exist. It sends no request that
   * changes the southbound: dumps, the drift and verification read, too.
   * @param correlate the desired or known values, from which to recover data that the southbound does
   *   not store; always all of them, even if `only` is set
   */
  readonly retrieve?: (
    correlate: readonly KeyedValue<V>[],
    ctx: RetrieveContext,
  ) => Promise<readonly RetrievedValue<V, M>[]>;
  /**
   * Values that exist as long as this one; a pure function of the value. Derived values derive
   * nothing themselves. A value that depends on one that is derived from it stays pending.
   */
  readonly derived?: (key: string, value: V) => readonly KeyedValue[];
  readonly dependencies?: (key: string, value: V) => readonly Dependency[];
  /** Descriptors that are read back before this one. */
  readonly retrieveDependencies?: readonly string[];
  /**
   * Identifies the southbound: after a change, values that were known before may not exist, leftovers are not
   * removed any more, and retries wait for the next resync. Absent: it stays the same. Used by `RetrieveContext.isKnown`, too.
   */
  readonly incarnation?: () => unknown;
  /**
   * Names of southbound resources that the value occupies exclusively (`vrf1/10.1.1.2/32`,
   * `netns/eth0`). The operation that releases a claim is executed before the one that takes it. Of
   * two values with the same claim, the one that has it keeps it (else the first by key has it), and
   * the other is pending until it is free.
   */
  readonly claims?: (key: string, value: V) => readonly string[];
  /**
   * Whether an operation that failed with this error is worth a retry; default: yes. An error whose
   * trait `isRetriable` is false is never retried.
   */
  readonly isRetriable?: (error: Error) => boolean;
}

/** A descriptor of any value type. */
// biome-ignore lint/suspicious/noExplicitAny: one list holds descriptors of many value types
export type AnyDescriptor = KvDescriptor<any, any>;

/** A value that the southbound reports: another component created, changed or (null) deleted it. */
export interface NotifiedValue {
  readonly key: string;
  readonly value: Value | null;
  readonly metadata?: unknown;
}

/** Receives reports of changes that other components made in the southbound. */
export interface NotificationSink {
  /**
   * Never waits and never fails. Reports are merged until the scheduler processes them: the latest
   * one of a key applies. So a value that was deleted and is back stays, with its dependents, and gets
   * the latest metadata. A pair is ignored if no descriptor owns its key or if the value is managed by
   * the northbound; one that the northbound has set, but never validly, is not managed.
   */
  pushNotification(pairs: readonly NotifiedValue[]): void;
}

/** The value was rejected by its descriptor. */
export class InvalidValueError extends CodedError {
  readonly code = 'CV_SCHED_INVALID_VALUE';
  readonly remedy =
    'Correct the value under this key; until then the last valid value stays, if there is one.';
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
