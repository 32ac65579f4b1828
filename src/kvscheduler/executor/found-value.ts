/** Answers of a descriptor about a value that was found in the southbound: one that throws must not end a transaction. */
import type { KeyedValue, RetrievedValue } from '../api/descriptor.ts';
import type { Value } from '../api/transaction.ts';
import { deepEqual } from '../graph/equality.ts';
import type { Node } from '../graph/node.ts';

/** Whether the found value equals the known one, or differs only where the descriptor permits it. */
export function isEquivalent({ key, descriptor }: Node, known: Value, found: Value): boolean {
  if (deepEqual(known, found)) return true;
  try {
    return descriptor?.equivalent?.(key, found, known) ?? false;
  } catch {
    return false;
  }
}

/** @returns nothing if the descriptor cannot derive from the value */
export function deriveFrom({ key, descriptor }: Node, value: Value): readonly KeyedValue[] {
  try {
    return descriptor?.derived?.(key, value) ?? [];
  } catch {
    return [];
  }
}

/** The derived values that exist with a found value. */
export function foundDerived(
  node: Node,
  { value, derived }: Pick<RetrievedValue, 'value' | 'derived'>,
): readonly KeyedValue[] {
  return derived ?? deriveFrom(node, value);
}
