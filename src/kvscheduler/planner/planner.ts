/**
 * The plan: a pure function of the graph, the targets and the blocked values. It does not change the
 * graph and calls no descriptor operation.
 *
 * 1. `resolve`: which values will exist when the plan has been executed
 * 2. `decide`: the operations that each value gets
 * 3. `blockersOf`: values that must stay because a blocked value needs them
 * 4. `orderOperations`: the operations in the order of a serial scheduler
 *
 * A step may find out that an earlier one lacked a fact. Planning then starts again with it.
 */

import { sortInSlices } from '#infra/clock/slices.ts';
import { byKey } from '../graph/by-key.ts';
import type { Node } from '../graph/node.ts';
import { blockersOf } from './blockers.ts';
import { ClaimArbiter } from './claim-arbiter.ts';
import { decide } from './decisions.ts';
import type { Attempt, PlanInput } from './input.ts';
import type { PlannedOperation } from './operation.ts';
import { orderOperations } from './ordering.ts';
import type { BlockReason, PlannedValue } from './planned-value.ts';
import type { Contention, Rejection, Resolution } from './resolution.ts';
import { Resolver } from './resolver.ts';

export interface Plan {
  readonly operations: readonly PlannedOperation[];
  /** All values that the plan is about, including those that were found in the desired state. */
  readonly values: readonly PlannedValue[];
  /** Targets that were rejected. */
  readonly refused: readonly Rejection[];
  readonly contentions: readonly Contention[];
  /** Values that stay as they are because a blocked value needs them. */
  readonly blockedByOthers: readonly Node[];
}

export async function makePlan(input: PlanInput): Promise<Plan> {
  let attempt = await firstAttempt(input);
  for (;;) {
    const resolution = await resolve(input, attempt);

    const reached = await decide(resolution, attempt.interrupted);
    if (reached.length > 0) {
      attempt = { ...attempt, reached: [...attempt.reached, ...reached] };
      continue;
    }

    const blockers = await blockersOf(resolution);
    if (blockers.length > 0) {
      attempt = { ...attempt, blocked: withBlockers(attempt.blocked, blockers) };
      continue;
    }

    const { operations, toInterrupt } = await orderOperations(resolution);
    if (toInterrupt.size > 0) {
      attempt = { ...attempt, interrupted: new Map([...attempt.interrupted, ...toInterrupt]) };
      continue;
    }

    return {
      operations,
      values: resolution.graph.all,
      refused: resolution.refused,
      contentions: resolution.contentions,
      blockedByOthers: [...attempt.blocked.keys()].filter((node) => !input.blocked.has(node)),
    };
  }
}

/** First step: values and claims are settled in turns until nothing changes. */
async function resolve(input: PlanInput, attempt: Attempt): Promise<Resolution> {
  const resolver = new Resolver(input, attempt);
  const arbiter = new ClaimArbiter(resolver);
  await resolver.start();
  do await resolver.settle();
  while (await arbiter.arbitrate());
  return resolver;
}

/** The order in which failures arrived must not influence the plan. */
async function firstAttempt({ blocked, slices }: PlanInput): Promise<Attempt> {
  const nodes = await sortInSlices([...blocked.keys()], byKey, slices);
  const sorted = new Map(nodes.map((node) => [node, blocked.get(node) as BlockReason]));
  return { blocked: sorted, reached: [], interrupted: new Map() };
}

function withBlockers(
  blocked: ReadonlyMap<Node, BlockReason>,
  blockers: readonly Node[],
): ReadonlyMap<Node, BlockReason> {
  const all = new Map(blocked);
  for (const node of blockers) all.set(node, 'needed by a blocked value');
  return all;
}
