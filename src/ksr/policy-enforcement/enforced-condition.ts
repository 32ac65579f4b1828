/** The condition `Enforced`, in words. It has no number that changes while all nodes enforce the policy. */
import type { ConditionContent } from '../condition.ts';
import type { Enforcement } from './enforcement-summary.ts';

const TYPE = 'Enforced';

export function enforcedCondition(enforcement: Enforcement): ConditionContent {
  const { nodes, refusing, unknown } = enforcement;
  if (nodes === 0) return { ...unknownOf('NoNodes'), message: 'the cluster has no nodes' };
  if (refusing + unknown === 0)
    return {
      type: TYPE,
      status: 'True',
      reason: 'AllNodesEnforce',
      message: 'all nodes enforce it, as far as Accepted says',
    };
  const message = [...refusalText(enforcement), ...unknownText(enforcement)].join('; ');
  if (refusing === 0) return { ...unknownOf('NodesUnknown'), message };
  return { type: TYPE, status: 'False', reason: 'NodesDoNotEnforce', message };
}

function unknownOf(reason: string): Omit<ConditionContent, 'message'> {
  return { type: TYPE, status: 'Unknown', reason };
}

function refusalText({ nodes, refusing, reasons }: Enforcement): string[] {
  if (refusing === 0) return [];
  const named = reasons.map(({ node, reason }) => `${node} (${reason})`);
  return [
    `${refusing} of ${nodes} nodes do not enforce it as defined: ${listText(named, refusing)}`,
  ];
}

function unknownText({ nodes, unknown, unknownNames }: Enforcement): string[] {
  if (unknown === 0) return [];
  const names = listText(unknownNames, unknown);
  return [`of ${unknown} of ${nodes} nodes it is not known: ${names}`];
}

function listText(named: readonly string[], count: number): string {
  const more = count - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}
