/** `netctl status`: the cluster on one screen, with what to do about each problem. */
import type { ProbeDocument } from '#documents/probes.ts';
import {
  type ClusterNode,
  type Command,
  type CommandContext,
  ExitCode,
  type NodeReply,
  type Table,
  type TableRow,
} from '../command.ts';
import { failuresOf, isForPeople, noteRow, shortList } from '../failures.ts';
import { ifAnswered } from '../requests/missing.ts';
import type { RequestFailure } from '../requests/request-failure.ts';
import { ageText } from '../status/age.ts';
import { type ClusterProblem, clusterProblems } from '../status/cluster-problems.ts';
import {
  accessProblems,
  clockProblems,
  linkProblems,
  type NodeProblem,
  probeProblems,
} from '../status/node-problems.ts';

type State = 'ready' | 'starting' | 'not ready';

interface NodeStatus {
  readonly name: string;
  readonly id: number | undefined;
  readonly state: State;
  /** Of the state; seconds since 1970, by the clock of the node. */
  readonly since: number | undefined;
  /** By the same clock. */
  readonly now: number | undefined;
  readonly host: string | undefined;
  readonly vppAddress: string | undefined;
  readonly agent: { readonly version: string; readonly commit: string; readonly started?: string };
  /** undefined: VPP is not connected, or the agent is too old to tell. */
  readonly vpp: string | undefined;
  readonly problems: readonly NodeProblem[];
  /** Of the cluster that the node knows; undefined: it cannot tell yet. */
  readonly clusterSize: number | undefined;
}

/** Status of readiness while a component is not OK. */
const NOT_READY = 500;
/** Of one screen. */
const MAX_NODES = 20;
const MAX_PROBLEMS = 8;
const MAX_TEXT = 300;

/** Of `GET /readiness`, by their numbers. */
const states: readonly State[] = ['starting', 'ready', 'not ready'];

export const status: Command = {
  name: 'status',
  summary: 'Show the cluster on one screen: its nodes, what is wrong, since when, what to do',
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
  examples: ['status', 'status node1', 'status -o wide', 'status -o json'],
  async run(context, { arguments: given }) {
    const asked = await context.nodes(given['node']);
    const replies = await context.askAll(asked, (node) => statusOf(context, node));
    const known = replies.flatMap(({ value }) => value ?? []);
    const problems = clusterProblems(known);
    const all = given['node']?.length ? undefined : await unaskedNodes(context, replies);
    const isShort = context.output.format === 'table';
    const shown = isShort ? shortened(replies) : replies;
    if (isForPeople(context)) context.output.prose(`${headline(replies, problems)}\n`);
    context.output.list(tableOf(shown), {
      nodes: known.map(documentOf),
      problems: problems.map(problemDocument),
      ...(all !== undefined && { notAsked: all }),
      failures: failuresOf(replies),
    });
    if (isForPeople(context)) {
      const times = new Map(known.map(({ name, now }) => [name, now]));
      const texts = [
        ...(shown.length < replies.length
          ? [`${replies.length - shown.length} more nodes are not shown: netctl status -o wide`]
          : []),
        ...(all?.length
          ? [
              `${replies.some(isNameless) ? 'Without an answer, or not asked' : 'Not asked'}, although nodes of the cluster: ${shortList(all, MAX_NODES)}.`,
            ]
          : []),
        ...problemTexts(problems, times, isShort),
      ];
      for (const text of texts) context.output.prose(`\n${text}`);
    }
    const code = context.explainFailures(replies);
    return code === ExitCode.Success && problems.length > 0 ? ExitCode.Negative : code;
  },
};

async function statusOf(context: CommandContext, node: ClusterNode): Promise<NodeStatus> {
  const { ProbeDocument } = await import('#documents/probes.ts');
  const { IpamDocument } = await import('#documents/ipam.ts');
  const { NodeList } = await import('#documents/nodes.ts');
  const { VppVersion } = await import('#documents/vpp-version.ts');
  const refusals: RequestFailure[] = [];
  // These may fail while the node starts, or with an agent of another release: its state counts.
  const ifServed = <T>(reply: Promise<T>): Promise<T | undefined> =>
    ifAnswered(reply, (failure) => {
      if (failure.reason === 'unauthorized' || failure.reason === 'forbidden')
        refusals.push(failure);
    });
  const [probe, ipam, nodes, vpp] = await Promise.all([
    context.ask(node, 'readiness', ProbeDocument, [NOT_READY]),
    ifServed(context.ask(node, 'contiv/v1/ipam', IpamDocument)),
    ifServed(context.ask(node, 'contiv/v1/nodes?show=problems', NodeList)),
    ifServed(context.ask(node, 'vpp/version', VppVersion)),
  ]);
  const answeredAt = context.clock.wallTime();
  return {
    name: node.name,
    id: node.id ?? ipam?.nodeId,
    state: stateOf(probe),
    since: probe.last_change,
    now: probe.last_update,
    host: node.host,
    vppAddress: node.vppAddress ?? ipam?.nodeIP.split('/')[0],
    agent: {
      version: probe.build_version ?? '',
      commit: probe.commit_hash ?? '',
      ...(probe.start_time !== undefined && { started: rfc3339(probe.start_time) }),
    },
    vpp: vpp?.version,
    problems: [
      ...probeProblems(probe),
      ...(nodes === undefined ? [] : linkProblems(nodes.nodes)),
      ...accessProblems(refusals),
      ...clockProblems(probe.last_update, answeredAt / 1000),
    ],
    clusterSize: nodes?.total,
  };
}

function stateOf({ state = 0 }: ProbeDocument): State {
  return states[state] ?? 'not ready';
}

/**
 * Nodes of the cluster that the source of the nodes does not have, such as with `--server`. Only when one node
 * knows more of them than were asked: its list is long in a large cluster.
 */
async function unaskedNodes(
  context: CommandContext,
  replies: readonly NodeReply<NodeStatus>[],
): Promise<readonly string[]> {
  // An agent that was named by its address and does not answer has not reported its name.
  const named = replies.length - replies.filter(isNameless).length;
  const most = replies.find(({ value }) => (value?.clusterSize ?? 0) > named);
  if (most === undefined) return [];
  const { NodeList } = await import('#documents/nodes.ts');
  const list = await ifAnswered(context.ask(most.node, 'contiv/v1/nodes', NodeList));
  const names = new Set(replies.map(({ node }) => node.name));
  return (list?.nodes ?? []).map(({ name }) => name).filter((name) => !names.has(name));
}

function isNameless({ node, failure }: NodeReply<unknown>): boolean {
  return failure !== undefined && node.given !== undefined;
}

// ---- for people

function headline(
  replies: readonly NodeReply<NodeStatus>[],
  problems: readonly ClusterProblem[],
): string {
  const counts = states.toReversed().flatMap((state) => {
    const count = replies.filter(({ value }) => value?.state === state).length;
    return count > 0 ? [`${count} ${state}`] : [];
  });
  const silent = replies.filter(({ failure }) => failure !== undefined).length;
  if (silent > 0) counts.unshift(`${silent} without an answer`);
  const wrong =
    problems.length === 0
      ? silent === 0
        ? 'No problem.'
        : 'No other problem.'
      : plural(problems.length, 'problem');
  return `${plural(replies.length, 'node')}: ${counts.join(', ')}. ${wrong}`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Of many nodes those with something to see, and others as long as the screen has space. */
function shortened(replies: readonly NodeReply<NodeStatus>[]): readonly NodeReply<NodeStatus>[] {
  if (replies.length <= MAX_NODES) return replies;
  const isCalm = ({ value }: NodeReply<NodeStatus>): boolean =>
    value?.state === 'ready' && value.problems.length === 0;
  const byNeed = replies.toSorted((a, b) => Number(isCalm(a)) - Number(isCalm(b)));
  const shown = new Set(byNeed.slice(0, MAX_NODES));
  return replies.filter((reply) => shown.has(reply));
}

function tableOf(replies: readonly NodeReply<NodeStatus>[]): Table {
  return {
    columns: [
      { title: 'NODE' },
      { title: 'ID', whenNarrow: 'keep', isRightAligned: true },
      { title: 'STATE', whenNarrow: 'keep' },
      { title: 'FOR', whenNarrow: 'keep' },
      { title: 'PROBLEMS', whenNarrow: 'keep', isRightAligned: true },
      { title: 'AGENT' },
      { title: 'VPP' },
      { title: 'COMMIT', isWide: true },
      { title: 'HOST', isWide: true },
      { title: 'VPP-IP', isWide: true },
    ],
    rows: replies.map(rowOf),
  };
}

function rowOf({ node, value, failure }: NodeReply<NodeStatus>): TableRow {
  if (failure) {
    const row = noteRow(node, failure.text);
    return { ...row, cells: [node.name, String(node.id ?? '')] };
  }
  const { name, id, state, since, now, agent, vpp, host, vppAddress, problems } = value;
  const age = since === undefined || now === undefined ? '' : ageText(now - since);
  return {
    cells: [
      name,
      String(id ?? ''),
      state,
      age,
      String(problems.length),
      agent.version,
      vpp ?? 'unknown',
      agent.commit,
      host ?? node.socket ?? '',
      vppAddress ?? '',
    ],
    ...colorOf(value),
  };
}

function colorOf({ state, problems }: NodeStatus): Pick<TableRow, 'color'> {
  if (state === 'not ready') return { color: 'red' };
  return state === 'ready' && problems.length === 0 ? {} : { color: 'yellow' };
}

function problemTexts(
  problems: readonly ClusterProblem[],
  times: ReadonlyMap<string, number | undefined>,
  isShort: boolean,
): string[] {
  const shown = isShort ? problems.slice(0, MAX_PROBLEMS) : problems;
  const texts = shown.map((problem) => problemText(problem, times, isShort));
  const more = problems.length - shown.length;
  return more === 0
    ? texts
    : [...texts, `${plural(more, 'more problem')}: netctl status -o wide shows all.`];
}

function problemText(
  { component, severity, text, code, remedy, nodes }: ClusterProblem,
  times: ReadonlyMap<string, number | undefined>,
  isShort: boolean,
): string {
  const names = nodes.map(({ name }) => name);
  const first = nodes.reduce((a, b) => ((b.since ?? Infinity) < (a.since ?? Infinity) ? b : a));
  const now = times.get(first.name);
  const since =
    first.since === undefined || now === undefined
      ? ''
      : `, since ${utc(first.since)} (${ageText(now - first.since)})`;
  const isCut = isShort && text.length > MAX_TEXT;
  const shown = isCut ? `${text.slice(0, MAX_TEXT)}… (whole with -o wide)` : text;
  return [
    `${severity.toUpperCase()} ${component} on ${isShort ? shortList(names, 5) : names.join(', ')}${since}`,
    `  ${shown}${code === undefined ? '' : ` [${code}]`}`,
    `  Do: ${remedy}`,
  ].join('\n');
}

/** `2026-11-29 08:06:20 UTC` */
function utc(seconds: number): string {
  return `${rfc3339(seconds).slice(0, 19).replace('T', ' ')} UTC`;
}

// ---- for scripts

function rfc3339(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

function documentOf({
  now: _,
  since,
  clusterSize: __,
  problems,
  vpp,
  ...rest
}: NodeStatus): unknown {
  return {
    ...rest,
    since: since === undefined ? undefined : rfc3339(since),
    vpp: vpp === undefined ? null : { version: vpp },
    problems: problems.length,
  };
}

function problemDocument({ nodes, ...rest }: ClusterProblem): unknown {
  return {
    ...rest,
    nodes: nodes.map(({ name, since }) => ({
      name,
      since: since === undefined ? undefined : rfc3339(since),
    })),
  };
}
