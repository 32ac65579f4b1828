import type { Value } from '#kvscheduler/api/transaction.ts';
import type { DeepInput, Model } from '#models/model.ts';

/** A configuration value and its key. */
export interface KeyValue {
  readonly key: string;
  readonly value: Value;
}

export function keyValue<T extends object>(model: Model<T>, input: DeepInput<T>): KeyValue {
  const value = model.canonical(input);
  return { key: model.key(value), value };
}
