/** Operations of a renderer: those that lead from the values of one state to those of another. */
import { isDeepStrictEqual } from 'node:util';
import type { ValueOperation as OperationDocument } from '#documents/connectivity.ts';
import type { Clock } from '#infra/clock/clock.ts';
import type { Slices } from '#infra/clock/slices.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import type { KeyValue } from '#plugins/controller/api/key-value.ts';
import { AclRenderer } from '../acl/renderer.ts';
import type { RenderedState } from '../rendered-state.ts';

export interface ValueOperation extends OperationDocument {
  /** null: there is none. */
  readonly before: Value | null;
  readonly after: Value | null;
}

/** All values of a state, by key, without any effect. */
export async function renderedValues(
  state: RenderedState,
  clock: Clock,
): Promise<ReadonlyMap<string, Value>> {
  const values = new Map<string, Value>();
  const replace = (_group: string, all: Iterable<KeyValue>) => {
    for (const { key, value } of all) values.set(key, value);
  };
  const ctx = { txn: { replace }, clock };
  const renderer = await AclRenderer.render(ctx, state);
  // the connections that are open then are no part of a plan
  for (const owner of renderer.takeNewTables()) renderer.keep(ctx, owner, []);
  return values;
}

/** Sorted by key. */
export async function valueOperations(
  before: ReadonlyMap<string, Value>,
  after: ReadonlyMap<string, Value>,
  slices: Slices,
): Promise<ValueOperation[]> {
  const operations: ValueOperation[] = [];
  for (const key of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const old = before.get(key) ?? null;
    const next = after.get(key) ?? null;
    if (old !== null && next !== null && (await areEqual(old, next, slices))) continue;
    const operation = old === null ? 'create' : next === null ? 'delete' : 'update';
    operations.push({ operation, key, before: old, after: next });
  }
  return operations;
}

/** Values have long lists, whose items are compared one by one; a list is a value, too. */
export async function areEqual(a: object, b: object, slices: Slices): Promise<boolean> {
  const fields = Object.entries(a);
  if (fields.length !== Object.keys(b).length) return false;
  for (const [name, field] of fields) {
    const other: unknown = (b as Readonly<Record<string, unknown>>)[name];
    if (!Array.isArray(field) || !Array.isArray(other)) {
      if (slices.dueNow()) await slices.turn();
      if (!isDeepStrictEqual(field, other)) return false;
      continue;
    }
    if (field.length !== other.length) return false;
    for (const [at, item] of field.entries()) {
      if (slices.dueNow()) await slices.turn();
      if (!isDeepStrictEqual(item, other[at])) return false;
    }
  }
  return true;
}
