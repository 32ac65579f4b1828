/** `netctl trace`: the way of a packet from a pod, hop by hop over all nodes, and that of its reply. */
import { isIP } from 'node:net';
import { defineError } from '#infra/errors/errors.ts';
import type { Protocol } from '#packet-trace/packet.ts';
import type { PairTrace, TracedPorts } from '#packet-trace/pair-trace.ts';
import type { PacketTrace } from '#packet-trace/tracer.ts';
import {
  type ClusterNode,
  type Command,
  type CommandContext,
  type CommandInput,
  ExitCode,
  type OutputFormat,
  type Table,
  type TableRow,
} from '../command.ts';
import { failuresOf, shortList, showFailures } from '../failures.ts';
import { askRoute } from '../requests/missing.ts';

export const TraceArgumentError = defineError({
  name: 'TraceArgumentError',
  code: 'CV_NETCTL_TRACE_ARGUMENT',
  rejects: 'configuration',
  remedy:
    'Write pods as namespace/name; netctl pods lists them. Ports are such as 80, TCP/80, UDP/53 or ICMP.',
});

export const trace: Command = {
  name: 'trace',
  summary: 'Trace a packet from a pod, and its reply, hop by hop',
  arguments: [
    { name: 'from', description: 'pod as namespace/name, or its address', completes: 'pods' },
    { name: 'to', description: 'pod, or an address such as that of a service', completes: 'pods' },
  ],
  options: [
    {
      name: 'to-port',
      value: 'port',
      description: 'port of the destination: 80, UDP/53 or ICMP; needed for services',
    },
    { name: 'from-port', value: 'number', description: 'port of the source (default: 49152)' },
    { name: 'desired', description: 'trace through the desired state instead of the actual one' },
  ],
  examples: [
    'trace shop/web-0 shop/db-0 --to-port 5432',
    'trace shop/web-0 10.96.0.10 --to-port UDP/53',
    'trace shop/web-0 shop/db-0 --to-port 5432 --desired',
  ],
  run: (context, input) => run(context, input),
};

async function run(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const from = endOf(input, 'from');
  const to = endOf(input, 'to');
  const ports = portsOf(input);
  const view = input.options['desired'] === true ? 'NB' : 'SB';
  const { NodeSnapshot } = await import('#documents/node-snapshot.ts');
  const { isNodeSnapshot } = await import('#packet-trace/node-document.ts');
  const { podAddress, tracePair } = await import('#packet-trace/pair-trace.ts');
  const replies = await context.askAll(await nodesOf(context, [from, to]), (node) =>
    askRoute(context, node, `trace/node?view=${view}`, NodeSnapshot),
  );
  const code = context.explainFailures(replies);
  const snapshots = replies.map(({ value }) => value).filter(isNodeSnapshot);
  if (snapshots.length === 0) {
    showFailures(context, replies);
    return ExitCode.Failure;
  }
  const silent = replies.flatMap(({ node, failure }) => (failure ? [node.name] : []));
  const addressOf = (end: string): string => {
    const address = isIP(end) ? end : podAddress(snapshots, end);
    if (address !== undefined) return address;
    const others = silent.length > 0 ? `; ${shortList(silent)} did not answer` : '';
    const names = shortList(snapshots.map(({ name }) => name));
    throw new TraceArgumentError(`no such pod is attached to ${names}${others}`, { where: end });
  };
  const source = addressOf(from);
  const traced = tracePair(snapshots, source, addressOf(to), ports);
  if (traced === undefined)
    throw new TraceArgumentError('no node that answered has this address', { where: source });
  const table = tableOf(`${from} (${traced.packet.source})`, to, traced, context.output.format);
  context.output.list(table, { from, to, ...traced, failures: failuresOf(replies) });
  if (silent.length > 0 && !traced.isDelivered)
    context.warn(`The trace has no state of nodes that did not answer: ${shortList(silent)}`);
  if (!traced.isDelivered && code === ExitCode.Success) return ExitCode.Negative;
  return code;
}

function endOf(input: CommandInput, name: 'from' | 'to'): string {
  const [end = ''] = input.arguments[name] ?? [];
  return isIP(end) || end.includes('/') ? end : `default/${end}`;
}

function portsOf({ options }: CommandInput): TracedPorts {
  const text = options['to-port'];
  const source = options['from-port'];
  const sourcePort = typeof source === 'string' ? portNumber(source) : undefined;
  if (typeof text !== 'string') return { protocol: undefined, port: undefined, sourcePort };
  const protocols: readonly Protocol[] = ['TCP', 'UDP', 'ICMP'];
  const parts = text.toUpperCase().split('/');
  const protocol = protocols.find((one) => one === parts[0]);
  if (protocol === 'ICMP' && parts.length === 1) return { protocol, port: undefined, sourcePort };
  if (parts.length === 1) return { protocol: 'TCP', port: portNumber(text), sourcePort };
  if (parts.length === 2 && protocol && protocol !== 'ICMP')
    return { protocol, port: portNumber(parts[1]!), sourcePort };
  throw new TraceArgumentError('is no port that can be traced', { where: text });
}

function portNumber(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new TraceArgumentError('is no port from 1 to 65535', { where: text });
}

/**
 * Between two pods only their nodes forward. A packet to any other address may pass every node: that of a
 * service is translated to a backend anywhere.
 */
async function nodesOf(
  context: CommandContext,
  ends: readonly string[],
): Promise<readonly ClusterNode[]> {
  const all = await context.nodes();
  const pods = (await context.pods().catch(() => undefined)) ?? [];
  const hosts = ends.map(
    (end) =>
      pods.find(({ namespace, name, address }) => end === `${namespace}/${name}` || end === address)
        ?.hostAddress,
  );
  const nodes = all.filter(({ host }) => host !== undefined && hosts.includes(host));
  return hosts.includes(undefined) || nodes.length === 0 ? all : nodes;
}

function tableOf(from: string, to: string, traced: PairTrace, format: OutputFormat): Table {
  const { packet, paths } = traced;
  const port =
    packet.protocol === undefined ? '' : `, ${packet.protocol} ${packet.destinationPort}`;
  const target = to === packet.destination ? to : `${to} (${packet.destination})`;
  const rows: TableRow[] = [{ cells: [''], note: `${from} to ${target}${port}` }];
  for (const [place, { share, trace: there, reply }] of paths.entries()) {
    if (paths.length > 1) {
      const percent = `${(share * 100).toFixed(1)} % of connections`;
      rows.push({ cells: [''], note: `path ${place + 1} of ${paths.length}, ${percent}` });
    }
    rows.push(...hopRows(there, format));
    if (reply) rows.push({ cells: [''], note: 'reply' }, ...hopRows(reply, format));
  }
  const columns = [
    { title: 'DEVICE', whenNarrow: 'keep' as const },
    { title: 'HOP' },
    { title: 'DECIDED-BY', isWide: true },
  ];
  return { columns, rows };
}

function hopRows({ hops, verdict }: PacketTrace, format: OutputFormat): TableRow[] {
  const shorten = format === 'wide' ? (text: string) => text : shortened;
  return hops.map(({ device, description, key }, at) => ({
    cells: [device === hops[at - 1]?.device ? '' : shorten(device), shorten(description), key],
    ...(at === hops.length - 1 && {
      color: verdict === 'delivered' ? ('green' as const) : ('red' as const),
    }),
  }));
}

/** Names of interfaces and ACLs contain the ID of a container, too long for a screen. */
function shortened(text: string): string {
  return text.replaceAll(/([0-9a-f]{8})[0-9a-f]{5,}(-[0-9a-f]{16})?/g, '$1…');
}
