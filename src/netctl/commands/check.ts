/** `netctl check`: whether this machine has what Contiv needs, and whether nodes reach each other. */
import { errorText } from '#infra/errors/errors.ts';
import { error, type Finding, ok, skipped } from '../check/finding.ts';
import { type Command, type CommandContext, ExitCode, type Table } from '../command.ts';
import { isForPeople } from '../failures.ts';

export const check: Command = {
  name: 'check',
  summary: 'Check this machine before the installation, or the ways between nodes by packets',
  arguments: [
    {
      name: 'node',
      description: 'nodes that probe the others, instead of a check of this machine',
      isOptional: true,
      isVariadic: true,
      completes: 'nodes',
    },
  ],
  options: [{ name: 'nodes', description: 'all nodes probe the others' }],
  examples: ['check', 'check --etcd-config etcd.conf', 'check --nodes', 'check node1 -o json'],
  async run(context, { arguments: given, options }) {
    const nodes = given['node'] ?? [];
    if (nodes.length > 0 || options['nodes'] === true) {
      const { checkNodes } = await import('../check/between-nodes.ts');
      return await checkNodes(context, await context.nodes(nodes));
    }
    const { HostFiles } = await import('../check/host-files.ts');
    const { kernelFindings } = await import('../check/kernel.ts');
    const { networkFindings } = await import('../check/network.ts');
    const files = new HostFiles();
    const findings = [
      ...kernelFindings(files),
      ...networkFindings(files),
      await etcdFinding(context),
    ];
    return showFindings(context, findings);
  },
};

async function etcdFinding(context: CommandContext): Promise<Finding> {
  const subject = 'etcd';
  try {
    const answer = await context.etcd();
    if (answer === undefined)
      return skipped(
        subject,
        'not asked',
        'Name an etcd of your own: --etcd-config, or ETCD_ENDPOINTS. The chart brings one.',
      );
    return ok(subject, `${answer.name} answers in ${Math.round(answer.tookMs)} ms`);
  } catch (thrown) {
    return error(
      subject,
      errorText(thrown).replaceAll(/\s+/g, ' ').trim(),
      'Check its address, the network to it, and the certificates in etcd.conf.',
    );
  }
}

function showFindings(context: CommandContext, findings: readonly Finding[]): ExitCode {
  const { output } = context;
  const errors = findings.filter(({ result }) => result === 'error').length;
  const warnings = findings.filter(({ result }) => result === 'warning').length;
  output.list(tableOf(findings), { errors, warnings, checks: findings });
  if (isForPeople(context)) {
    // Below the table: commands in a narrow column could not be copied.
    const advised = output.format === 'wide' ? [] : findings;
    for (const { subject, result, remedy } of advised)
      if (remedy !== '' && result !== 'skipped') output.prose(`\n${subject}:\n  ${remedy}`);
    const verdict = errors === 0 ? 'Contiv can run here.' : 'Contiv cannot run here yet.';
    output.prose(`\nErrors: ${errors}, warnings: ${warnings}. ${verdict}`);
  }
  return errors > 0 ? ExitCode.Negative : ExitCode.Success;
}

function tableOf(findings: readonly Finding[]): Table {
  return {
    columns: [
      { title: 'CHECK', whenNarrow: 'keep' },
      { title: 'RESULT', whenNarrow: 'keep' },
      { title: 'FOUND' },
      { title: 'DO', isWide: true },
    ],
    rows: findings.map(({ subject, result, text, remedy }) => ({
      cells: [subject, result, text, remedy],
      ...(result === 'error' && { color: 'red' }),
      ...(result === 'warning' && { color: 'yellow' }),
    })),
  };
}
