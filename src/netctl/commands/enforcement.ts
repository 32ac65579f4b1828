/** `netctl policies enforcement`: the policies of the cluster that nodes do not enforce as they are defined. */
import type { EnforcementDocument } from '#documents/enforcement.ts';
import type { CommandContext, ExitCode, NodeReply, TableRow } from '../command.ts';
import { failureRows, failuresOf } from '../failures.ts';
import { askRoute } from '../requests/missing.ts';

/** Of a digest: enough to see whether nodes differ. */
const DIGITS = 8;

export async function enforcement(context: CommandContext): Promise<ExitCode> {
  const { EnforcementDocument } = await import('#documents/enforcement.ts');
  const nodes = await context.nodes(undefined);
  const replies = await context.askAll(nodes, (node) =>
    askRoute(context, node, 'contiv/v1/policy/enforcement', EnforcementDocument),
  );
  context.output.list(
    {
      columns: [
        { title: 'NODE', whenNarrow: 'keep' },
        { title: 'STATE' },
        { title: 'APPLIED', isWide: true },
        { title: 'POLICY', whenNarrow: 'keep' },
        { title: 'CODE' },
        { title: 'REASON' },
      ],
      rows: [...replies.flatMap(rowsOf), ...failureRows(replies)],
    },
    {
      nodes: replies.flatMap(({ node, value }) => (value ? [{ ...value, name: node.name }] : [])),
      failures: failuresOf(replies),
    },
  );
  return context.explainFailures(replies);
}

function rowsOf({ node, value }: NodeReply<EnforcementDocument>): TableRow[] {
  if (value === undefined) return [];
  const { state, applied, problem, policies } = value;
  const start = [node.name, state, applied.slice(0, DIGITS)];
  if (policies.length > 0)
    return policies.map(({ policy, code, reason }) => ({
      cells: [...start, policy, code, reason],
      color: 'yellow' as const,
    }));
  if (problem !== '') return [{ cells: [...start, 'all', '', problem], color: 'yellow' as const }];
  return [
    { cells: [...start, state === 'settled' ? 'all are enforced' : 'not known now', '', ''] },
  ];
}
