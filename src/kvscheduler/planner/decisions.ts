/**
 * Second step of planning: the operations that each value gets. Values that exist before and after
 * the plan stay in between if their dependencies are met all the time. Changes are made in the order
 * delete, recreate, create, update: a value whose dependency is not met in between is removed and
 * created again, and so is everything that depends on it. A value that was found in the southbound
 * without a dependency refers to a predecessor of what will be created: it is recreated, too.
 */

import type { Dependency } from '../api/descriptor.ts';
import { deepEqual } from '../graph/equality.ts';
import type { Node } from '../graph/node.ts';
import type { MatchFinder } from './match-finder.ts';
import { isMany } from './planned-graph.ts';
import { type Decision, editable, type PlannedValue } from './planned-value.ts';
import type { Reason } from './reason.ts';
import type { Resolution } from './resolution.ts';

/**
 * @param interrupted values that have to be recreated so that others get a claim: key to claim
 * @returns nodes that were reached only here and may block others: planning has to begin with them
 */
export async function decide(
  resolution: Resolution,
  interrupted: ReadonlyMap<string, string>,
): Promise<readonly Node[]> {
  const { graph, input } = resolution;
  const { slices } = input;
  /** Values that do not stay: their derived values and dependents may have to be removed, too. */
  const leaving: PlannedValue[] = [];
  const reached: Node[] = [];
  const lasting = graph.finder((key) => isThroughout(resolution, key));
  /** Prefixes of which no key lasts for some values: which these were when the dependents were processed. */
  const processed = new Map<string, string>();
  const isDone = (prefix: string): boolean => {
    const unserved = lasting.unserved(prefix);
    return unserved === undefined || processed.get(prefix) === unserved;
  };
  await slices.each(graph.all, (value) => {
    editable(value).decision = decisionFor(resolution, value, interrupted);
    if (value.exists ? !stays(value) : resolution.isLost(value)) leaving.push(value);
  });
  const interrupt = (
    node: Node,
    reason: Reason,
    lost: string | undefined,
    mayStay: (value: PlannedValue) => boolean,
  ) => {
    if (node.actual === undefined) return;
    if (!graph.values.has(node.key) && input.graph.mayBlockOthers(node)) reached.push(node);
    const value = resolution.touch(node, reason);
    if (value.decision.action === 'undecided')
      editable(value).decision = decisionFor(resolution, value, interrupted);
    if (!stays(value) || value.isBlocked || mayStay(value)) return;
    editable(value).decision = { action: 'recreate', isChange: false, interruption: reason, lost };
    leaving.push(value);
  };
  for (const node of input.drifted) {
    if (slices.due()) await slices.turn();
    const value = graph.values.get(node.key);
    if (value?.exists !== true || !stays(value) || value.isBlocked) continue;
    const lacking = unsupported(resolution, value, lasting);
    if (lacking === undefined) continue;
    const lost = lacking.key ?? lacking.label;
    const interruption: Reason = { why: 'dependency lost', key: lost };
    editable(value).decision = { action: 'recreate', isChange: false, interruption, lost };
    leaving.push(value);
  }
  for (let next = leaving.pop(); next; next = leaving.pop()) {
    if (slices.due()) await slices.turn();
    const { key } = next;
    for (const child of next.node?.derived ?? []) {
      if (slices.due()) await slices.turn();
      interrupt(child, { why: 'derived', from: key }, undefined, () => false);
    }
    const reason: Reason = { why: 'dependency lost', key };
    const dependents = isMany(input.graph.dependentCount(key, isDone))
      ? await input.graph.dependentsInSlices(key, slices, isDone)
      : input.graph.dependents(key, isDone);
    if (dependents.length === 0) continue;
    const lost = resolution.isLost(next) ? key : undefined;
    const unserved = graph.prefixesOf(key).map((one) => [one, lasting.unserved(one)] as const);
    for (const dependent of dependents) {
      if (slices.due()) await slices.turn();
      interrupt(dependent, reason, lost, (value) => !unsupported(resolution, value, lasting));
    }
    for (const [prefix, one] of unserved) if (one !== undefined) processed.set(prefix, one);
  }
  return reached;
}

/** Whether the value exists all the time, as it is or updated. */
export function stays({ decision, exists, isAvailable }: PlannedValue): boolean {
  switch (decision.action) {
    case 'keep':
    case 'update':
    case 'postpone':
      return true;
    case 'blocked':
      return exists && isAvailable;
    default:
      return false;
  }
}

/** The first dependency of the actual value that is not met all the time. */
function unsupported(
  { graph }: Resolution,
  value: PlannedValue,
  lasting: MatchFinder,
): Dependency | undefined {
  const dependencies = value.node?.actualDependencies ?? [];
  return dependencies.find((one) => !graph.isSupported(value, one, lasting));
}

/** Whether the key is available all the time. */
function isThroughout({ graph, input }: Resolution, key: string): boolean {
  const value = graph.values.get(key);
  if (!value) return input.graph.get(key)?.available ?? false;
  const isUndecided = value.decision.action === 'undecided';
  return value.isAvailable && (isUndecided ? value.exists : stays(value));
}

const BLOCKED: Decision = { action: 'blocked' };
const NONE: Decision = { action: 'none' };
const KEEP: Decision = { action: 'keep' };
const POSTPONE: Decision = { action: 'postpone' };
const CREATE: Decision = { action: 'create' };
const UPDATE: Decision = { action: 'update' };
const DELETE: Decision = { action: 'delete' };

/** The decision for the value alone, before its dependencies are considered. */
function decisionFor(
  { input }: Resolution,
  value: PlannedValue,
  interrupted: ReadonlyMap<string, string>,
): Decision {
  if (value.isBlocked) return BLOCKED;
  if (!value.isAvailable) return value.exists ? DELETE : NONE;
  if (!value.exists) return CREATE;
  const { node, goal } = value;
  const isOther = node?.actual !== goal.value;
  const isPostponed = isOther && node !== undefined && input.updatesBlocked.has(node);
  const isChanged = !isPostponed && differs(value);
  const isRecreated = isChanged && needsRecreate(value);
  const lost = node?.lostDependency;
  if (lost !== undefined) {
    const interruption: Reason = { why: 'dependency lost', key: lost };
    return { action: 'recreate', isChange: isRecreated, interruption, lost };
  }
  if (node?.broken !== undefined) {
    const interruption: Reason = { why: 'broken', what: node.broken };
    return { action: 'recreate', isChange: true, interruption };
  }
  const claim = interrupted.get(value.key);
  if (isRecreated || claim !== undefined) {
    const interruption: Reason | undefined =
      claim === undefined ? undefined : { why: 'claim', name: claim };
    return { action: 'recreate', isChange: isRecreated, interruption };
  }
  if (isPostponed) return POSTPONE;
  return isChanged ? UPDATE : KEEP;
}

function differs({ key, node, goal, descriptor }: PlannedValue): boolean {
  if (!node || node.actual === goal.value) return false;
  if (goal.unmanaged || !descriptor?.equivalent) return !deepEqual(node.actual, goal.value);
  try {
    return !descriptor.equivalent(key, node.actual, goal.value);
  } catch {
    return true;
  }
}

function needsRecreate({ key, node, goal, descriptor }: PlannedValue): boolean {
  if (!descriptor || goal.unmanaged) return false;
  if (!descriptor.update) return true;
  try {
    return descriptor.needsRecreate?.(key, node?.actual, goal.value, node?.metadata) ?? false;
  } catch {
    return true;
  }
}
