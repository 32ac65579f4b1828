/** Connections of the last hour that a change of policies would refuse, of all nodes. */
import type { RefusedPair } from '#documents/flow-policies.ts';
import type { ClusterNode, CommandContext } from '../command.ts';
import { timeText } from '../event-line.ts';
import { postRoute } from '../requests/missing.ts';

export interface RefusedFlows {
  readonly refused: readonly RefusedPair[];
  /** That were compared. */
  readonly connections: number;
}

/**
 * The comparison of the agents, and warnings for those that do not: flows need a permission of their own.
 * @param body of a plan
 */
export async function refusedFlows(
  context: CommandContext,
  nodes: readonly ClusterNode[],
  body: object,
): Promise<RefusedFlows> {
  const { FlowPlan } = await import('#documents/flow-policies.ts');
  const replies = await context.askAll(nodes, (node) =>
    postRoute(context, node, 'contiv/v1/flows/plan', body, FlowPlan),
  );
  for (const { node, failure } of replies)
    if (failure)
      context.warn(`${node.name}: connections that were seen are not compared: ${failure.text}`);
  const plans = replies.flatMap(({ value }) => (value ? [value] : []));
  return {
    refused: plans.flatMap(({ refused }) => refused).sort((a, b) => b.connections - a.connections),
    connections: plans.reduce((sum, { connections }) => sum + connections, 0),
  };
}

export function refusedText({ refused, connections }: RefusedFlows): string {
  const count = refused.reduce((sum, one) => sum + one.connections, 0);
  const head = `Would have refused ${count} of ${connections} connections of the last hour`;
  return [count === 0 ? `${head}.` : `${head}:`, ...refused.map(refusedLine)].join('\n');
}

export function refusedLine({
  client,
  server,
  protocol,
  port,
  connections,
  last,
  reason,
}: RefusedPair): string {
  return `  ${client} => ${server} ${protocol} ${port}: ${connections}, the last at ${timeText(Date.parse(last))}: ${reason}`;
}
