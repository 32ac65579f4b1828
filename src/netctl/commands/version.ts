/** `netctl version`: the releases of this program, and of agent and VPP of each node. */
import type { Command, CommandContext, NodeReply, Table, TableRow } from '../command.ts';
import { failuresOf, isForPeople, noteRow } from '../failures.ts';
import { ifAnswered } from '../requests/missing.ts';

interface NodeVersions {
  readonly version: string;
  readonly commit: string;
  readonly built: string;
  /** undefined: VPP is not connected, or the agent is too old to ask. */
  readonly vpp: string | undefined;
}

export const version: Command = {
  name: 'version',
  summary: 'Show the releases of netctl, and of agent and VPP of each node',
  arguments: [
    {
      name: 'node',
      description: 'nodes to ask; default: all',
      isOptional: true,
      isVariadic: true,
      completes: 'nodes',
    },
  ],
  options: [],
  examples: ['version', 'version node1', 'version -o json'],
  async run(context, { arguments: given }) {
    const { build, output } = context;
    const nodes = await context.nodes(given['node']);
    const { VppVersion } = await import('#documents/vpp-version.ts');
    const { ProbeDocument } = await import('#documents/probes.ts');
    const replies = await context.askAll(nodes, async (node): Promise<NodeVersions> => {
      const [probe, vpp] = await Promise.all([
        // With 500, too: an agent that has to be restarted.
        context.ask(node, 'liveness', ProbeDocument, [500]),
        ifAnswered(context.ask(node, 'vpp/version', VppVersion)),
      ]);
      const { build_version = '', commit_hash = '', build_date = '' } = probe;
      return {
        version: build_version,
        commit: commit_hash,
        built: build_date,
        vpp: vpp?.version,
      };
    });
    if (isForPeople(context)) output.prose(`netctl ${versionText(build)}\n`);
    output.list(tableOf(replies, build), {
      client: { version: build.version, commit: build.commit, built: build.date },
      nodes: replies.flatMap(({ node, value }) =>
        value === undefined ? [] : [{ name: node.name, ...value, vpp: value.vpp ?? null }],
      ),
      failures: failuresOf(replies),
    });
    return context.explainFailures(replies);
  },
};

/** `v1.0.0`, or `v1.0.0 (commit 1234567)`. */
export function versionText({ version: its, commit }: CommandContext['build']): string {
  return commit === '' ? its : `${its} (commit ${commit})`;
}

function tableOf(
  replies: readonly NodeReply<NodeVersions>[],
  client: CommandContext['build'],
): Table {
  return {
    columns: [
      { title: 'NODE' },
      { title: 'AGENT', whenNarrow: 'keep' },
      { title: 'VPP', whenNarrow: 'keep' },
      { title: 'COMMIT', whenNarrow: 'drop' },
      { title: 'BUILT', isWide: true },
    ],
    rows: replies.map((reply) => rowOf(reply, client)),
  };
}

function rowOf(
  { node, value, failure }: NodeReply<NodeVersions>,
  client: CommandContext['build'],
): TableRow {
  if (failure) return noteRow(node, failure.text);
  const { version: its, vpp = 'unknown', commit, built } = value;
  return {
    cells: [node.name, its, vpp, commit, built],
    ...(its !== client.version && { color: 'yellow' }),
  };
}
