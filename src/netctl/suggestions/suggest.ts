/** `netctl policies suggest`: NetworkPolicies for a namespace, from the connections that were seen. */
import { defineError } from '#infra/errors/errors.ts';
import type { CommandContext, ExitCode } from '../command.ts';
import { failuresOf, isForPeople } from '../failures.ts';
import { askRoute } from '../requests/missing.ts';
import { refusedFlows, refusedLine } from './refused-flows.ts';
import { type SuggestedPolicy, suggestPolicies, unusedPermissions } from './suggested-policies.ts';

export const SuggestArgumentError = defineError({
  name: 'SuggestArgumentError',
  code: 'CV_NETCTL_SUGGEST_ARGUMENT',
  rejects: 'configuration',
  remedy: 'Give a namespace, as in netctl policies suggest shop.',
});

export async function suggest(
  context: CommandContext,
  namespace: string | undefined,
): Promise<ExitCode> {
  if (namespace === undefined || !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(namespace))
    throw new SuggestArgumentError(`${namespace ?? 'nothing'} is no name of a namespace`);
  const { SeenPolicies } = await import('#documents/flow-policies.ts');
  const nodes = await context.nodes(undefined);
  const path = `contiv/v1/flows/policies?namespace=${namespace}`;
  const replies = await context.askAll(nodes, (node) =>
    askRoute(context, node, path, SeenPolicies),
  );
  const seen = replies.flatMap(({ value }) => (value ? [value] : []));
  const { policies, notes } = suggestPolicies(namespace, seen);
  const unused = unusedPermissions(seen);
  const checked = await refusedFlows(context, nodes, { added: policies });
  if (!isForPeople(context))
    context.output.document({
      policies,
      notes,
      refused: checked.refused,
      unused,
      failures: failuresOf(replies),
    });
  else if (seen.length > 0) {
    const since =
      seen
        .map((one) => one.since)
        .sort()
        .at(-1) ?? '';
    const lost = seen.reduce((sum, { unknown }) => sum + unknown, 0);
    const comments = [
      `Permits the connections of TCP and UDP that were seen since ${since}, and DNS.`,
      ...(lost > 0
        ? [
            `${lost} connections are missing: VPP has chosen their server, or an address is shortened.`,
          ]
        : []),
      ...notes,
      checked.refused.length === 0
        ? `Checked: of ${checked.connections} connections of the last hour none would be refused.`
        : 'Would refuse:',
      ...checked.refused.map(refusedLine),
      ...(unused.length > 0 ? ['Permissions of existing policies that nothing has used:'] : []),
      ...unused.map(({ policy, direction, rule }) => `  ${policy}, spec.${direction}[${rule}]`),
    ];
    context.output.text(await manifest(policies, comments));
  }
  return context.explainFailures(replies);
}

async function manifest(
  policies: readonly SuggestedPolicy[],
  comments: readonly string[],
): Promise<string> {
  const { stringify } = await import('yaml');
  const head = comments.map((text) => `# ${text}\n`).join('');
  return [head, ...policies.map((one) => stringify(one, { aliasDuplicateObjects: false }))].join(
    '---\n',
  );
}
