/** `netctl check --nodes`: real packets from each node to the others, by VPP. */
import type { NodeProbe, PathProbe } from '#documents/node-probe.ts';
import {
  type ClusterNode,
  type CommandContext,
  ExitCode,
  type NodeReply,
  type Table,
  type TableRow,
} from '../command.ts';
import { failureRows, failuresOf, isForPeople } from '../failures.ts';
import { askRoute, explained, isUnknownRoute } from '../requests/missing.ts';
import { RequestError } from '../requests/request-failure.ts';

/** Other nodes that one node probes, three seconds each. Those that follow it, so that each is probed by some. */
const MAX_PEERS = 20;

const lossRemedy = [
  'Loss in the underlay: check the network between the main interfaces of the nodes, their state (netctl vppcli NODE show interface) and their addresses (netctl nodes).',
  'Loss in the overlay alone: check that no firewall between the nodes drops UDP port 4789.',
].join('\n');

interface NodeProbes {
  readonly probes: readonly Probe[];
  /** Other nodes that it did not probe. */
  readonly omitted: number;
}

type Probe = { readonly to: string } & (
  | { readonly reply: NodeProbe; readonly problem?: never }
  | { readonly problem: string; readonly reply?: never }
);

export async function checkNodes(
  context: CommandContext,
  nodes: readonly ClusterNode[],
): Promise<ExitCode> {
  const replies = await context.askAll(nodes, (node) => probesOf(context, node));
  const all = replies.flatMap(({ node, value }) =>
    (value?.probes ?? []).map((probe) => ({ from: node.name, ...probe })),
  );
  context.output.list(tableOf(replies), {
    probes: all.map(({ from, to, reply, problem = null }) => ({
      from,
      to,
      whyUnreachable: null,
      paths: [],
      ...reply,
      node: undefined,
      problem,
    })),
    failures: failuresOf(replies),
  });
  const paths = all.flatMap(({ reply }) => reply?.paths ?? []);
  const counts = {
    // A pair without paths counts as one.
    lost:
      all.filter(({ reply }) => reply && reply.whyUnreachable !== null).length +
      paths.filter((path) => path.problem === null && !isWithoutLoss(path)).length,
    unknown:
      all.filter(({ reply }) => reply === undefined).length +
      paths.filter(({ problem }) => problem !== null).length,
    omitted: replies.reduce((sum, { value }) => sum + (value?.omitted ?? 0), 0),
  };
  if (isForPeople(context)) context.output.prose(`\n${summary(all.length, counts)}`);
  const code = context.explainFailures(replies);
  const isWhole = counts.lost + counts.unknown === 0;
  return code === ExitCode.Success && !isWhole ? ExitCode.Negative : code;
}

async function probesOf(context: CommandContext, node: ClusterNode): Promise<NodeProbes> {
  const { NodeList } = await import('#documents/nodes.ts');
  const { NodeProbe } = await import('#documents/node-probe.ts');
  const list = await askRoute(context, node, 'contiv/v1/nodes', NodeList);
  const byId = list.nodes.toSorted((a, b) => a.id - b.id);
  const own = byId.findIndex(({ name }) => name === list.thisNode);
  const peers = [...byId.slice(own + 1), ...byId.slice(0, Math.max(0, own))].slice(0, MAX_PEERS);
  const probes: Probe[] = [];
  for (const { name: to } of peers) {
    try {
      const path = `contiv/v1/nodes/${encodeURIComponent(to)}/probe`;
      probes.push({ to, reply: await context.ask(node, path, NodeProbe) });
    } catch (thrown) {
      // One pair may fail, but an agent without the route fails all.
      if (!(thrown instanceof RequestError) || isUnknownRoute(thrown)) throw explained(thrown);
      probes.push({ to, problem: thrown.failure.text });
    }
  }
  return { probes, omitted: list.total - 1 - peers.length };
}

function isWithoutLoss({ sent, received, problem }: PathProbe): boolean {
  return problem === null && sent > 0 && received >= sent;
}

// ---- for people

function summary(
  pairs: number,
  { lost, unknown, omitted }: Readonly<Record<'lost' | 'unknown' | 'omitted', number>>,
): string {
  if (pairs === 0) return 'There is no other node to probe.';
  const texts = [
    lost + unknown === 0 ? 'No packet was lost.' : '',
    lost === 0 ? '' : lossRemedy,
    unknown === 0 ? '' : `${unknown} ways could not be probed.`,
    omitted === 0
      ? ''
      : `${omitted} ways were left out: each node probes the next ${MAX_PEERS} by ID.`,
  ];
  return texts.filter((text) => text !== '').join('\n');
}

function tableOf(replies: readonly NodeReply<NodeProbes>[]): Table {
  return {
    columns: [
      { title: 'FROM', whenNarrow: 'keep' },
      { title: 'TO', whenNarrow: 'keep' },
      { title: 'PATH', whenNarrow: 'keep' },
      { title: 'ADDRESS', whenNarrow: 'keep' },
      { title: 'LOSS', whenNarrow: 'keep', isRightAligned: true },
      { title: 'RTT', whenNarrow: 'keep', isRightAligned: true },
      { title: 'MIN', isWide: true, isRightAligned: true },
      { title: 'MAX', isWide: true, isRightAligned: true },
    ],
    rows: [
      ...replies.flatMap(({ node, value }) =>
        (value?.probes ?? []).flatMap((probe) => probeRows(node.name, probe)),
      ),
      ...failureRows(replies),
    ],
  };
}

function probeRows(from: string, { to, reply, problem }: Probe): TableRow[] {
  const why = problem ?? reply?.whyUnreachable ?? undefined;
  if (why !== undefined) return [{ cells: [from, to], note: why, color: 'red' }];
  return (reply?.paths ?? []).map((probe) => pathRow(from, to, probe));
}

function pathRow(from: string, to: string, probe: PathProbe): TableRow {
  const { path, address, sent, received, rttMs, problem } = probe;
  const known = [from, to, path, address];
  if (problem !== null) return { cells: known, note: problem, color: 'red' };
  const times = [rttMs?.average, rttMs?.min, rttMs?.max].map((ms) =>
    ms === undefined ? '' : `${ms.toFixed(ms < 10 ? 2 : 0)} ms`,
  );
  const loss = sent === 0 ? '' : `${Math.round((1 - received / sent) * 100)} %`;
  return {
    cells: [...known, loss, ...times],
    ...(isWithoutLoss(probe) ? {} : { color: 'red' }),
  };
}
