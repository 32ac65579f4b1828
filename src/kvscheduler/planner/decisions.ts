/**
 * Which of the values that are there now and later stay in between. Changes come in the order
 * delete, re-create, create, update: a value whose dependency is not met all the while goes and
 * comes back, and so does everything that depends on it.
 */

import { deepEqual } from '../graph/equality.ts';
import type { Node } from '../graph/graph.ts';
import { isMany } from './planned-graph.ts';
import type { Draft } from './planned-value.ts';
import type { Reason } from './reason.ts';
import type { Resolver } from './resolver.ts';

/**
 * @param bounced values that have to go for a moment so that others get a claim: key to claim
 * @returns troubled values met on the way: the plan has to begin with them
 */
export async function settleContinuity(
  resolver: Resolver,
  bounced: ReadonlyMap<string, string>,
): Promise<Node[]> {
  const { view } = resolver;
  const { graph, slices } = resolver.input;
  const interrupted: Draft[] = [];
  const troubled: Node[] = [];
  for (const draft of resolver.drafts.values()) {
    if (slices.due()) await slices.turn();
    judge(resolver, draft, bounced);
    if (draft.current ? !draft.stays : resolver.isLost(draft)) interrupted.push(draft);
  }
  const interrupt = (node: Node, reason: Reason, tolerable: (draft: Draft) => boolean): void => {
    if (node.actual === undefined) return;
    if (!resolver.drafts.has(node.key) && graph.mayBlockOthers(node)) troubled.push(node);
    const draft = resolver.touch(node, reason);
    judge(resolver, draft, bounced);
    if (!draft.stays || draft.held || tolerable(draft)) return;
    draft.stays = false;
    draft.interruption = reason;
    interrupted.push(draft);
  };
  for (let next = interrupted.pop(); next; next = interrupted.pop()) {
    if (slices.due()) await slices.turn();
    const { key } = next;
    for (const child of next.node?.derived ?? []) {
      if (slices.due()) await slices.turn();
      interrupt(child, { why: 'derived', from: key }, () => false);
    }
    const reason: Reason = { why: 'dependency lost', key };
    if (isMany(view.dependentCount(key))) await view.gatherNodes(key, slices);
    for (const dependent of view.dependentNodes(key)) {
      if (slices.due()) await slices.turn();
      interrupt(dependent, reason, (draft) => stands(resolver, draft));
    }
  }
  return troubled;
}

/** Whether the dependencies of the actual value are met throughout. */
function stands(resolver: Resolver, draft: Draft): boolean {
  const throughout = (key: string): boolean => {
    const other = resolver.drafts.get(key);
    if (!other) return resolver.input.graph.get(key)?.available ?? false;
    return other.up && (other.judged ? other.stays : other.current);
  };
  const dependencies = draft.node?.actualDependencies ?? [];
  return dependencies.every((one) => resolver.view.support(draft, one, throughout) !== undefined);
}

function judge(resolver: Resolver, draft: Draft, bounced: ReadonlyMap<string, string>): void {
  if (draft.judged) return;
  draft.judged = true;
  draft.stays = draft.current && draft.up;
  if (!draft.stays || draft.held) return;
  const { node, wish } = draft;
  draft.suspended = node?.actual !== wish && node !== undefined && resolver.input.settled.has(node);
  draft.changed = !draft.suspended && isChanged(draft);
  draft.recreate = draft.changed && needsRecreate(draft);
  const claim = bounced.get(draft.key);
  if (!draft.recreate && claim === undefined) return;
  draft.stays = false;
  if (claim !== undefined) draft.interruption = { why: 'claim', name: claim };
}

function isChanged({ key, node, wish, descriptor, foreign }: Draft): boolean {
  if (!node || node.actual === wish) return false;
  if (foreign || !descriptor?.equivalent) return !deepEqual(node.actual, wish);
  try {
    return !descriptor.equivalent(key, node.actual, wish);
  } catch {
    return true;
  }
}

function needsRecreate({ key, node, wish, descriptor, foreign }: Draft): boolean {
  if (!descriptor || foreign) return false;
  if (!descriptor.update) return true;
  try {
    return descriptor.needsRecreate?.(key, node?.actual, wish, node?.metadata) ?? false;
  } catch {
    return true;
  }
}
