/** Compares values with the graph, and has descriptors inspect those that are new. */

import { errorText } from '#infra/errors/errors.ts';
import { DescriptorContractError } from '../api/errors.ts';
import type { Value } from '../api/transaction.ts';
import { deepEqual } from '../graph/equality.ts';
import type { Node } from '../graph/node.ts';
import type { Goal, PlannedValue } from './planned-value.ts';

const none: readonly never[] = [];

export interface Inspection extends Pick<Goal, 'dependencies' | 'claims'> {
  /** The reason why the value cannot be configured whatever its dependencies are. */
  readonly invalid: Error | undefined;
}

/** Has the descriptor validate the value and name its dependencies and claims. */
export function inspect({ key, descriptor, node }: PlannedValue, value: Value): Inspection {
  try {
    descriptor?.validate?.(key, value);
  } catch (thrown) {
    const invalid = thrown instanceof Error ? thrown : new Error(errorText(thrown));
    return { dependencies: none, invalid, claims: undefined };
  }
  const known = node?.actualDependencies ?? none;
  if (node && isInspected(node, value))
    return { dependencies: known, invalid: undefined, claims: node.claims };
  let dependencies: Inspection['dependencies'] = none;
  try {
    const named = descriptor?.dependencies?.(key, value) ?? none;
    // The same array if they are equal, so that the indexes stay as they are.
    dependencies = deepEqual(named, known) ? known : named;
    const claims = descriptor?.claims?.(key, value);
    return { dependencies, invalid: undefined, claims };
  } catch (cause) {
    const invalid = new DescriptorContractError(errorText(cause), { where: key, cause });
    return { dependencies, invalid, claims: undefined };
  }
}

/** The desired value of the node, if it equals the given one. */
export function sameDesired(node: Node | undefined, value: Value): Value | undefined {
  const known = node?.desired;
  return known === value || (known && deepEqual(known, value)) ? known : undefined;
}

/** The value exists already, although another one or none was desired. */
export function isActual(node: Node, value: Value): boolean {
  const { actual, desired } = node;
  if (actual === undefined || actual === desired || node.unmanaged || node.outcomeUnknown)
    return false;
  return deepEqual(actual, value);
}

/** The value exists, it is the desired one, and nothing failed. */
export function isInSync(node: Node, value: Value, unmanaged: boolean): boolean {
  if (node.outcomeUnknown || node.toBeRemoved || node.rejected || node.isFaulty) return false;
  if (unmanaged) return node.unmanaged && deepEqual(node.actual, value);
  if (node.state !== 'CONFIGURED' || node.actual !== node.desired) return false;
  return node.desired === value || deepEqual(node.desired, value);
}

/** The descriptor named dependencies for this very value when it was retrieved. */
function isInspected(node: Node, value: Value): boolean {
  if (value !== node.actual || node.unmanaged || node.outcomeUnknown) return false;
  return node.actualDependencies.length > 0;
}
