/** The plan of a change on the current graph; nothing is executed and nothing is read. */

import type { Plan as PlanDocument } from '#documents/scheduler/plan.ts';
import type { Slices } from '#infra/clock/slices.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import { InvalidTransactionError } from '../api/errors.ts';
import type { Value } from '../api/transaction.ts';
import { GraphWriter, type PlanOrigin } from '../executor/graph-writer.ts';
import { targetsOf } from '../executor/prepare.ts';
import type { SchedulerContext } from '../executor/scheduler-context.ts';
import type { Graph } from '../graph/graph.ts';
import type { Node } from '../graph/node.ts';
import { type RecordedTxnOp, recordPlanned } from '../history/record.ts';
import type { PlanScope } from './input.ts';
import { makePlan, type Plan } from './planner.ts';

const none: readonly never[] = [];

/** Of plans that no transaction executes. */
const noOrigin: PlanOrigin = {
  seqNum: -1,
  fromNorth: false,
  retry: undefined,
  mayRetry: () => false,
};

export interface PreviewRequest {
  /** `resync`: the values are the whole desired state; other managed values are removed. */
  readonly mode: 'update' | 'resync';
  /** Key to desired value; null removes (updates only). */
  readonly values: ReadonlyMap<string, Value | null>;
}

export interface Preview extends PlanDocument {
  readonly Operations: readonly RecordedTxnOp[];
}

/** @throws InvalidTransactionError */
export function assertPlannable({ mode, values }: PreviewRequest): void {
  for (const [key, value] of values) {
    if (key === '') throw new InvalidTransactionError('a value has no key');
    if (value === null && mode === 'resync')
      throw new InvalidTransactionError(
        'a resync has null: it deletes the values that it does not name',
        { where: key },
      );
  }
}

export async function preview(
  context: SchedulerContext,
  request: PreviewRequest,
): Promise<Preview> {
  const { graph, slices, log } = context;
  const targets = await targetsOf(graph, request.values, request.mode === 'resync', slices);
  const plan = await planOn(graph, { targets, reconcile: none }, context, log);
  const plans = (await mayFreeContended(plan, graph, slices))
    ? await plansUntilDone(request, context)
    : [plan];
  const operations: RecordedTxnOp[] = [];
  for (const operation of plans.flatMap((one) => one.operations)) {
    if (slices.due()) await slices.turn();
    if (!operation.silent)
      operations.push(recordPlanned(operation, { revert: false, retry: false }));
  }
  return {
    Operations: operations,
    Refused: plan.refused.map(({ key, error }) => ({ Key: key, Error: error.message })),
    Unknown: [...graph.withUnknownOutcome].map(({ key }) => key).sort(),
  };
}

type Planning = Pick<SchedulerContext, 'registry' | 'slices'>;

function planOn(
  graph: Graph,
  scope: Pick<PlanScope, 'targets' | 'reconcile'>,
  { registry, slices }: Planning,
  log: Logger,
): Promise<Plan> {
  return makePlan({
    ...scope,
    graph,
    registry,
    drifted: new Set(),
    blocked: new Map([...graph.withUnknownOutcome].map((node) => [node, 'unknown outcome'])),
    updatesBlocked: new Set(),
    slices,
    log,
  });
}

/** Whether the plan may free a key that another base derives, too, so that another plan follows. */
async function mayFreeContended(
  { values, contentions }: Plan,
  { contended }: Graph,
  slices: Slices,
): Promise<boolean> {
  if (contended.free.size > 0) return true;
  const added = new Set(contentions.map(({ key }) => key));
  for (const { key, goal } of values) {
    if (slices.due()) await slices.turn();
    if (goal.value === undefined && (added.has(key) || contended.has(key))) return true;
  }
  return false;
}

/**
 * The plans that a transaction makes one after the other if no operation fails. Each begins with the
 * result of the one before, so they are applied to a copy of the graph.
 */
async function plansUntilDone(
  { mode, values }: PreviewRequest,
  { graph: original, registry, slices }: Planning & Pick<SchedulerContext, 'graph'>,
): Promise<Plan[]> {
  const graph = await original.copy(slices);
  // A preview logs only its first plan.
  const log = silentLogger;
  const writer = new GraphWriter({ graph, registry, log, slices });
  const plans: Plan[] = [];
  const touched: Node[] = [];
  const served = new Map<Node, number>();
  let targets = await targetsOf(graph, values, mode === 'resync', slices);
  let reconcile: readonly Node[] = none;
  do {
    const plan = await planOn(graph, { targets, reconcile }, { registry, slices }, log);
    plans.push(plan);
    const applied = await writer.applyPlan(plan, noOrigin, undefined);
    await slices.each(plan.operations, (operation) =>
      applied.applySuccess(operation, applied.nodeOf(operation.value).metadata),
    );
    await slices.each(applied.nodes, (node) => {
      if (node) touched.push(node);
    });
    await writer.removeUnused(touched);
    targets = none;
    reconcile = writer.takeContenders(served);
  } while (reconcile.length > 0);
  return plans;
}
