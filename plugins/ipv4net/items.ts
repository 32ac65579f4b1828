import type { Value } from '#kvscheduler/api/transaction.ts';
import type { DeepInput, Model } from '#models/model.ts';

/** A configuration value and the key it stands under. */
export interface Item {
  readonly key: string;
  readonly value: Value;
}

export function item<T extends object>(model: Model<T>, input: DeepInput<T>): Item {
  const value = model.canonical(input);
  return { key: model.key(value), value };
}
