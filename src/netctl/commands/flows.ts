/** `netctl flows`: who talks to whom, and what was refused, over all nodes in the order of time. */
import type { Flow } from '#documents/flows.ts';
import { defineError } from '#infra/errors/errors.ts';
import {
  type ClusterNode,
  type Command,
  type CommandContext,
  type CommandInput,
  ExitCode,
  type TableRow,
} from '../command.ts';
import { durationText, timeText } from '../event-line.ts';
import { failureRows, failuresOf, isForPeople } from '../failures.ts';
import {
  bytesText,
  clientText,
  flowText,
  lastedText,
  seenAtText,
  serverText,
  serviceText,
  verdictText,
} from '../flow-line.ts';
import { inForm } from '../requests/agent-document.ts';
import { followNode } from '../requests/follow-node.ts';
import { parseReply } from '../requests/item-stream.ts';
import { timeOfOption } from '../time-option.ts';

const DEFAULT_LAST = 50;
/** Of each node, with --since. */
const MOST = 1_000_000;

export const flows: Command = {
  name: 'flows',
  summary: 'Show who talks to whom, and what was refused',
  arguments: [
    {
      name: 'node',
      description: 'nodes to ask; default: all',
      isOptional: true,
      isVariadic: true,
      completes: 'nodes',
    },
  ],
  options: [
    {
      name: 'pod',
      value: 'name',
      description:
        'only flows from or to namespace/name of a pod, workload or service, a node or an address',
      completes: 'pods',
    },
    {
      name: 'to',
      value: 'name',
      description: 'only flows to this server or service, named as for --pod',
      completes: 'pods',
    },
    {
      name: 'protocol',
      value: 'name',
      description: 'only flows of TCP, or of UDP',
      choices: ['tcp', 'udp'],
    },
    { name: 'denied', description: 'only connections that were denied, or got no answer' },
    { name: 'since', value: 'time', description: 'such as 10m, 2h, 1d or 2026-01-31T12:00:00Z' },
    {
      name: 'last',
      value: 'number',
      description: `newest flows of each node (default: ${DEFAULT_LAST} without --since)`,
    },
    { name: 'follow', description: 'continue with new flows and changes until Ctrl-C' },
  ],
  examples: [
    'flows',
    'flows --denied --since 1h',
    'flows --pod shop/web --follow',
    'flows --to shop/db -o json',
  ],
  async run(context, input) {
    const request = requestOf(context, input);
    const nodes = await context.nodes(input.arguments['node']);
    if (input.options['follow'] !== true) return await list(context, nodes, request);
    await Promise.all(nodes.map((node) => follow(context, node, request)));
    return ExitCode.Success;
  },
};

export const FlowsArgumentError = defineError({
  name: 'FlowsArgumentError',
  code: 'CV_NETCTL_FLOWS_ARGUMENT',
  rejects: 'configuration',
  remedy: 'netctl flows --help lists the options with examples.',
});

interface FlowsRequest {
  /** Arguments of the filter. */
  readonly filter: readonly string[];
  readonly since: string | undefined;
  /** undefined: as many as there are. */
  readonly last: number | undefined;
}

function requestOf({ clock }: CommandContext, { options }: CommandInput): FlowsRequest {
  const text = (name: string): string | undefined => {
    const value = options[name];
    return typeof value === 'string' ? value : undefined;
  };
  const filter: string[] = [];
  for (const name of ['pod', 'to']) {
    const value = text(name);
    if (value !== undefined) filter.push(`${name}=${encodeURIComponent(value)}`);
  }
  const protocol = text('protocol');
  if (protocol !== undefined) filter.push(`protocol=${protocol.toUpperCase()}`);
  if (options['denied'] === true) filter.push('verdict=denied', 'verdict=no-answer');
  const asked = text('since');
  const since = asked === undefined ? undefined : timeOfOption(asked, clock.wallTime());
  if (asked !== undefined && since === undefined)
    throw new FlowsArgumentError(`--since ${asked}: not a duration and not a time`);
  const last = text('last');
  if (last !== undefined && !/^\d{1,9}$/.test(last))
    throw new FlowsArgumentError(`--last ${last}: not a number`);
  return { filter, since, last: last === undefined ? undefined : Number(last) };
}

// ---- the past

async function list(
  context: CommandContext,
  nodes: readonly ClusterNode[],
  { filter, since, last }: FlowsRequest,
): Promise<ExitCode> {
  const { FlowsDocument } = await import('#documents/flows.ts');
  const asksDenied = filter.includes('verdict=denied');
  const limit = last ?? (since === undefined ? DEFAULT_LAST : MOST);
  const query = [
    ...filter,
    `last=${limit}`,
    ...(since === undefined ? [] : [`since=${encodeURIComponent(since)}`]),
  ];
  const path = `contiv/v1/flows?${query.join('&')}`;
  const replies = await context.askAll(nodes, (node) => context.ask(node, path, FlowsDocument));
  const all = replies
    .flatMap(({ value }) => value?.flows ?? [])
    .sort((a, b) => Date.parse(a.time) - Date.parse(b.time));
  for (const { value } of replies) {
    if (!value) continue;
    const { isRecording, notReadSince, lost, displaced, vppDenials } = value.state;
    if (!isRecording) context.warn(`${value.node}: records no flows; netctl status says why`);
    if (notReadSince !== undefined)
      context.warn(
        `${value.node}: flows are not read since ${notReadSince}; netctl status says why`,
      );
    if (displaced > 0)
      context.warn(
        `${value.node}: ${displaced} conversations of UDP have left the memory of the kernel for newer ones`,
      );
    if (asksDenied && vppDenials && vppDenials.packets > vppDenials.sampled)
      context.warn(
        `${value.node}: VPP has denied ${vppDenials.packets} packets since its agent started, and kept ${vppDenials.sampled} of them to look at`,
      );
    if (lost > 0) context.warn(`${value.node}: ${lost} events of connections were lost`);
  }
  const answered = replies.some(({ failure }) => failure === undefined);
  if (answered && all.length === 0 && isForPeople(context)) context.output.text('No such flow.');
  else
    context.output.list(
      {
        columns: [
          { title: 'SEEN-AT', whenNarrow: 'drop' },
          { title: 'DATE', isWide: true },
          { title: 'TIME', whenNarrow: 'keep' },
          { title: 'VERDICT', whenNarrow: 'keep' },
          { title: 'CLIENT' },
          { title: 'SERVER' },
          { title: 'SERVICE', whenNarrow: 'drop' },
          { title: 'SENT', isRightAligned: true, whenNarrow: 'drop' },
          { title: 'RECEIVED', isRightAligned: true, whenNarrow: 'drop' },
          { title: 'LASTED', isRightAligned: true, whenNarrow: 'drop' },
          { title: 'SOCKETS', isRightAligned: true, isWide: true },
          { title: 'RTT', isRightAligned: true, isWide: true },
          { title: 'SENT-AGAIN', isRightAligned: true, isWide: true },
          { title: 'STALLED', isRightAligned: true, isWide: true },
          { title: 'REASON', isWide: true },
        ],
        rows: [
          ...all.flatMap((flow) => rowsOf(flow, context.output.format === 'wide')),
          ...failureRows(replies),
        ],
      },
      {
        flows: all,
        nodes: replies.flatMap(({ value }) =>
          value ? [{ node: value.node, ...value.state }] : [],
        ),
        failures: failuresOf(replies),
      },
    );
  return context.explainFailures(replies);
}

const colors: Readonly<Partial<Record<Flow['verdict'], TableRow['color']>>> = {
  denied: 'red',
  'no-answer': 'red',
  refused: 'yellow',
};

/** A reason is a sentence: a column of it would be narrow, so it has a line of its own. */
function rowsOf(flow: Flow, isWide: boolean): readonly TableRow[] {
  const row = rowOf(flow, isWide);
  if (isWide || flow.reason === '') return [row];
  const { color } = row;
  return [row, { cells: [''], note: flow.reason, ...(color && { color }) }];
}

function rowOf(flow: Flow, isWide: boolean): TableRow {
  const { time, verdict, reason, clientBytes, serverBytes, rttUs } = flow;
  const at = Date.parse(time);
  const hasBytes = verdict === 'open' && (flow.ended ?? flow.measured) !== undefined;
  const color = colors[verdict];
  return {
    cells: [
      seenAtText(flow),
      new Date(at).toISOString().slice(0, 10),
      timeText(at),
      verdictText(flow),
      clientText(flow, isWide),
      serverText(flow, isWide),
      serviceText(flow),
      hasBytes ? bytesText(clientBytes) : '',
      hasBytes ? bytesText(serverBytes) : '',
      lastedText(flow),
      String(flow.datagrams?.sockets || ''),
      rttUs > 0 ? `${(rttUs / 1_000).toFixed(2)}ms` : '',
      String(flow.retransmissions),
      flow.stalledMs > 0 ? durationText(flow.stalledMs) : '',
      reason,
    ],
    ...(color && { color }),
  };
}

// ---- the future

async function follow(
  context: CommandContext,
  node: ClusterNode,
  { filter, since, last }: FlowsRequest,
): Promise<void> {
  const { Flow, FlowsDocument } = await import('#documents/flows.ts');
  const { output } = context;
  const show = (flow: Flow): void => {
    // bytes of open connections would be a line for each open connection, every minute
    if (flow.measured === undefined || !isForPeople(context))
      output.event(flowText(flow, output.format === 'wide'), flow);
  };
  let after: string | undefined;
  let hasPast = since === undefined && last === undefined;
  await followNode(context, node, async (answers) => {
    if (!hasPast) {
      const query = [...filter, `last=${last ?? MOST}`];
      if (since !== undefined) query.push(`since=${encodeURIComponent(since)}`);
      const past = await context.ask(node, `contiv/v1/flows?${query.join('&')}`, FlowsDocument);
      past.flows.forEach(show);
      hasPast = true;
    }
    const query = [...filter, ...(after === undefined ? [] : [`after=${after}`])];
    const path = `contiv/v1/flows/events?${query.join('&')}`;
    for await (const { id, event, data } of context.events(node, path)) {
      after = id ?? after;
      answers();
      if (event !== 'flows') continue;
      const changed = parseReply(node, data);
      if (Array.isArray(changed)) for (const one of changed) show(inForm(Flow, one));
    }
  });
}
