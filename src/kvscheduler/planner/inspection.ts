/** What a descriptor says of a value, and what is known of it already. */

import { errorText } from '#infra/errors/errors.ts';
import { DescriptorContractError } from '../api/errors.ts';
import type { Value } from '../api/transaction.ts';
import { deepEqual } from '../graph/equality.ts';
import type { Node } from '../graph/graph.ts';
import type { Draft } from './planned-value.ts';

const none: readonly never[] = [];

/** Asks the descriptor about a value that is new to it. */
export function study(draft: Draft, value: Value): void {
  const { key, descriptor, node } = draft;
  draft.invalid = undefined;
  draft.dependencies = none;
  try {
    descriptor?.validate?.(key, value);
  } catch (thrown) {
    draft.invalid = thrown instanceof Error ? thrown : new Error(errorText(thrown));
    return;
  }
  if (node && isStudied(node, value)) {
    draft.dependencies = node.actualDependencies;
    draft.learnClaims(node.claims);
    return;
  }
  try {
    const dependencies = descriptor?.dependencies?.(key, value) ?? none;
    const known = node?.actualDependencies ?? none;
    // The same list, so that the indexes need not learn it twice.
    draft.dependencies = deepEqual(dependencies, known) ? known : dependencies;
    if (descriptor?.claims) draft.learnClaims(descriptor.claims(key, value));
  } catch (cause) {
    draft.invalid = new DescriptorContractError(errorText(cause), { where: key, cause });
  }
}

/** What is wished already, if the value is no other. */
export function knownWish({ node, foreign }: Draft, value: Value): Value | undefined {
  const known = foreign ? undefined : node?.desired;
  return known === value || (known && deepEqual(known, value)) ? known : undefined;
}

/** What is asked for was found there, though it was not wished. */
export function isThere(
  { actual, desired: wanted, unmanaged: foreign, outcomeUnknown: unknown }: Node,
  value: Value,
): boolean {
  if (actual === undefined || actual === wanted || foreign || unknown) return false;
  return deepEqual(actual, value);
}

/** The value is there, nothing is amiss, and it is the one that is asked for. */
export function inSync(node: Node, value: Value, foreign: boolean): boolean {
  if (node.outcomeUnknown || node.toBeRemoved) return false;
  if (foreign) return node.unmanaged && deepEqual(node.actual, value);
  if (node.state !== 'CONFIGURED' || node.actual !== node.desired) return false;
  return node.desired === value || deepEqual(node.desired, value);
}

/** The descriptor was asked about this very value when it was found, and has said something. */
function isStudied(
  { actual, actualDependencies, unmanaged: foreign, outcomeUnknown: unknown }: Node,
  value: Value,
): boolean {
  return value === actual && !foreign && !unknown && actualDependencies.length > 0;
}
