/**
 * The properties that all descriptors state in the same way: name, value type, keys and JSON form.
 * A descriptor's own file contains only what is particular to it.
 */
import type { KvDescriptor } from './descriptor.ts';
import type { Value } from './transaction.ts';

/** The type of values whose key carries all the information. */
export const EMPTY_TYPE = 'google.protobuf.Empty';

export const emptyValue: object = Object.freeze({});

/** How values of one type are named and shown. Every model and every message is one. */
export interface ValueType<V extends Value> {
  /** Full protobuf name. */
  readonly typeName: string;
  /** Default: the value itself. */
  toJson?(value: V): unknown;
}

/** The model of values that the northbound puts. */
export interface DescriptorModel<V extends Value> extends ValueType<V> {
  /** All keys of the model begin with it; without a slash at its end it is the only key. */
  readonly keyPrefix: string;
}

/** Recognizes the keys of one kind of value. */
export interface DescriptorKey {
  prefix(): string;
  /** Undefined for keys of another kind. */
  parse(key: string): unknown;
}

type CommonProperties =
  | 'name'
  | 'typeName'
  | 'keyPrefixes'
  | 'ownsKey'
  | 'nbKeyPrefix'
  | 'label'
  | 'toJson';

type Behavior<V extends Value, M> = Omit<KvDescriptor<V, M>, CommonProperties>;

/** A descriptor of values that the northbound puts; their label is the key without its prefix. */
export function defineDescriptor<V extends Value, M>(
  name: string,
  model: DescriptorModel<V>,
  behavior: Behavior<V, M>,
): KvDescriptor<V, M> {
  const { typeName, keyPrefix } = model;
  const isSingleton = !keyPrefix.endsWith('/');
  return {
    name,
    typeName,
    keyPrefixes: [keyPrefix],
    nbKeyPrefix: keyPrefix,
    ...toJsonOf(model),
    ...(isSingleton
      ? { ownsKey: (key) => key === keyPrefix }
      : { label: (key) => key.slice(keyPrefix.length) }),
    ...behavior,
  };
}

/**
 * A descriptor of values that the northbound does not put: derived from other values or reported by
 * the southbound.
 * @param keys of these values
 * @param valueType absent: the values are empty
 */
export function defineInternalDescriptor<V extends Value, M>(
  name: string,
  {
    keys,
    valueType,
  }: { readonly keys: readonly DescriptorKey[]; readonly valueType?: ValueType<V> },
  behavior: Behavior<V, M> & Pick<KvDescriptor<V, M>, 'label'>,
): KvDescriptor<V, M> {
  return {
    name,
    typeName: valueType?.typeName ?? EMPTY_TYPE,
    keyPrefixes: [...new Set(keys.map((key) => key.prefix()))],
    ownsKey: (key) => keys.some((each) => each.parse(key) !== undefined),
    ...toJsonOf(valueType),
    ...behavior,
  };
}

function toJsonOf<V extends Value>(
  type: ValueType<V> | undefined,
): Pick<KvDescriptor<V>, 'toJson'> {
  const toJson = type?.toJson;
  return toJson === undefined ? {} : { toJson: (value) => toJson.call(type, value) };
}
