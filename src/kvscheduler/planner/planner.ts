/**
 * The plan: a pure function of the graph, of what is wished and of what is broken. The graph is not
 * changed and no descriptor is asked to do anything.
 */

import { sortInSlices } from '#infra/clock/slices.ts';
import { byKey } from '../graph/by-key.ts';
import type { Node } from '../graph/graph.ts';
import { pin } from './blockers.ts';
import { arbitrate } from './claim-arbiter.ts';
import { settleContinuity } from './decisions.ts';
import type { PlanInput } from './input.ts';
import type { PlannedOperation } from './operation.ts';
import { Ordering } from './ordering.ts';
import type { Draft } from './planned-value.ts';
import { Resolver } from './resolver.ts';

export interface Plan {
  readonly operations: readonly PlannedOperation[];
  /** Everything that was looked at: what the operations are about, and what was found to be fine. */
  readonly drafts: readonly Draft[];
  /** Targets that cannot be taken at all. */
  readonly refused: readonly { readonly key: string; readonly error: Error }[];
  /** Values that cannot be done justice to, because a broken one stands in the way. */
  readonly pinned: readonly Node[];
}

export async function makePlan(input: PlanInput): Promise<Plan> {
  // The order in which failures came in is no part of the input.
  const held = new Set(await sortInSlices([...input.frozen], byKey, input.slices));
  const bounced = new Map<string, string>();
  const troubled: Node[] = [];
  for (;;) {
    const resolver = new Resolver(input, held);
    await resolver.open(troubled);
    do await resolver.settle();
    while (await arbitrate(resolver));
    const met = await settleContinuity(resolver, bounced);
    for (const node of met) troubled.push(node);
    if (met.length > 0) continue;
    if (held.size > 0 && (await pin(resolver, held))) continue;
    const ordering = new Ordering(resolver);
    await ordering.run();
    if (ordering.bounced.size === 0)
      return {
        operations: ordering.list.operations,
        drafts: [...resolver.drafts.values()],
        refused: resolver.refused,
        pinned: [...held].filter((node) => !input.frozen.has(node)),
      };
    for (const [key, claim] of ordering.bounced) bounced.set(key, claim);
  }
}
