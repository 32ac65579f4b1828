import type { AnyModel } from '#models/model.ts';

/** Values of one model, by key. */
export type Values<T> = ReadonlyMap<string, T>;

/** @throws InvalidModelError for a value that is invalid for its model */
export function valuesOf<T>(model: AnyModel, all: ReadonlyMap<string, unknown>): Values<T> {
  const found = [...all].filter(([key]) => key.startsWith(model.keyPrefix));
  return new Map(found.map(([key, value]) => [key, model.parse(value, key) as T]));
}
