/** `netctl connectivity`: who may reach whom under the network policies, and for one pair why. */
import type { Endpoint, PairDocument, UnlistedPod } from '#documents/connectivity.ts';
import { defineError } from '#infra/errors/errors.ts';
import {
  type ClusterNode,
  type Command,
  type CommandContext,
  type CommandInput,
  ExitCode,
  type NodeReply,
} from '../command.ts';
import { failuresOf, isForPeople } from '../failures.ts';
import { inForm } from '../requests/agent-document.ts';
import { askItems } from '../requests/item-stream.ts';
import { askRoute, explained } from '../requests/missing.ts';
import { RequestError } from '../requests/request-failure.ts';

const PATH = 'contiv/v1/policy/connectivity';

export const ConnectivityArgumentError = defineError({
  name: 'ConnectivityArgumentError',
  code: 'CV_NETCTL_CONNECTIVITY_ARGUMENT',
  rejects: 'configuration',
  remedy: 'netctl connectivity --help lists the options with examples.',
});

export const connectivity: Command = {
  name: 'connectivity',
  summary: 'List who may reach whom under the network policies, or explain one pair',
  arguments: [
    {
      name: 'from',
      description: 'pod or workload as namespace/name, or address',
      isOptional: true,
      completes: 'pods',
    },
    {
      name: 'to',
      description: 'the same; with it, the pair is explained',
      isOptional: true,
      completes: 'pods',
    },
  ],
  options: [
    {
      name: 'to-port',
      value: 'port',
      description: 'port of the destination, such as 80 or UDP/53',
    },
    {
      name: 'node',
      value: 'name',
      description: 'node to ask; default: those of the pods',
      completes: 'nodes',
    },
  ],
  examples: [
    'connectivity',
    'connectivity shop/web',
    'connectivity shop/web shop/db --to-port 5432',
    'connectivity 198.51.100.7 shop/web',
  ],
  async run(context, input) {
    const { node } = input.options;
    if (input.options['to-port'] !== undefined && input.arguments['to']?.[0] === undefined)
      throw new ConnectivityArgumentError('--to-port needs both ends of a connection');
    const nodes = await context.nodes(typeof node === 'string' ? [node] : undefined);
    const [from] = input.arguments['from'] ?? [];
    const [to] = input.arguments['to'] ?? [];
    if (from !== undefined && to !== undefined)
      return await explainPair(context, nodes, pairOf(input, from, to));
    return await list(context, nodes, from === undefined ? undefined : fullName(from));
  },
};

/** Addresses and names with a namespace stay as they are. */
function fullName(text: string): string {
  return /[/:]|^[\d.]+$/.test(text) ? text : `default/${text}`;
}

// ---- all pairs

/** Each node knows the whole cluster: the first one that answers is enough. */
async function list(
  context: CommandContext,
  nodes: readonly ClusterNode[],
  only: string | undefined,
): Promise<ExitCode> {
  const replies: NodeReply<undefined>[] = [];
  for (const node of nodes) {
    const shown: Shown = { connections: 0 };
    try {
      const isKnown = await listFrom(context, node, only, shown);
      if (!isKnown) return ExitCode.Negative;
      return replies.length === 0 ? ExitCode.Success : ExitCode.Partial;
    } catch (thrown) {
      const error = explained(thrown);
      if (!(error instanceof RequestError)) throw error;
      replies.push({ node, failure: error.failure });
      if (shown.connections > 0) {
        // The next node would repeat them.
        context.warn(`${node.name}: the list ends after ${shown.connections} connections`);
        break;
      }
      if (nodes.length > replies.length)
        context.warn(`${node.name}: ${error.failure.text}; asking the next node`);
    }
  }
  return context.explainFailures(replies);
}

/** Also of a list that the node does not send to its end. */
interface Shown {
  connections: number;
}

/**
 * Lines are printed while they arrive: 5,000 pods may have millions of them.
 * @returns whether the node knows `only`
 */
async function listFrom(
  context: CommandContext,
  node: ClusterNode,
  only: string | undefined,
  shown: Shown,
): Promise<boolean> {
  const { output } = context;
  const { Connection, Endpoint, UnlistedPod } = await import('#documents/connectivity.ts');
  const selected = new Set<string>();
  const unlisted: UnlistedPod[] = [];
  for await (const { field, value } of askItems(context, node, PATH, 'connections')) {
    if (field === 'endpoints' && only !== undefined) {
      const endpoint = inForm(Endpoint, value);
      if (isNamed(endpoint, only)) selected.add(endpoint.name);
    }
    if (field === 'unlisted') unlisted.push(inForm(UnlistedPod, value));
    if (field !== 'connections') continue;
    const item = inForm(Connection, value);
    const { from, to, ports } = item;
    if (from === to || (only !== undefined && !selected.has(from) && !selected.has(to))) continue;
    output.event(`${from} => ${to} : ${ports}`, item);
    shown.connections++;
  }
  const missing = unlisted.find(({ pod }) => pod === only);
  if (missing) context.warn(`${only}: no connections are known: ${missing.reason}`);
  else if (only !== undefined && selected.size === 0)
    context.warn(`${only}: no pod and no workload with an address has this name`);
  else if (shown.connections === 0 && isForPeople(context))
    output.text('No connection is permitted. netctl policies shows what isolates the pods.');
  return only === undefined || selected.size > 0;
}

/** The name of an endpoint is `namespace/name[Kind]`, and it lists its pods. */
function isNamed({ name, pods = [] }: Endpoint, searched: string): boolean {
  return name.replace(/\[\w+\]$/, '') === searched || pods.includes(searched);
}

// ---- one pair

interface Pair {
  readonly from: string;
  readonly to: string;
  readonly path: string;
}

function pairOf({ options }: CommandInput, fromText: string, toText: string): Pair {
  const [from, to] = [fullName(fromText), fullName(toText)];
  const port = options['to-port'];
  const query = new URLSearchParams({ from, to, ...(typeof port === 'string' && { port }) });
  return { from, to, path: `${PATH}?${query}` };
}

async function explainPair(
  context: CommandContext,
  all: readonly ClusterNode[],
  pair: Pair,
): Promise<ExitCode> {
  const replies = await askNodesOf(context, all, pair);
  const answers = replies.flatMap(({ node, value }) =>
    value === undefined ? [] : [{ node, answer: value }],
  );
  if (!isForPeople(context))
    context.output.document({
      from: pair.from,
      to: pair.to,
      answers: answers.map(({ node, answer }) => ({ ...answer, node: node.name })),
      failures: failuresOf(replies),
    });
  else if (answers.length > 0) context.output.prose(pairText(answers));
  const code = context.explainFailures(replies);
  const isDenied = answers.some(({ answer }) => answer.verdict !== 'permitted');
  return isDenied && code === ExitCode.Success ? ExitCode.Negative : code;
}

/** The nodes of both pods apply the policies. If they are not known, one node that answers is asked. */
async function askNodesOf(
  context: CommandContext,
  all: readonly ClusterNode[],
  { from, to, path }: Pair,
): Promise<readonly NodeReply<PairDocument>[]> {
  const pods = (await context.pods().catch(() => undefined)) ?? [];
  const hosts = new Set(
    pods
      .filter(({ namespace, name, address }) =>
        [from, to].some((end) => end === `${namespace}/${name}` || end === address),
      )
      .map(({ hostAddress }) => hostAddress),
  );
  const nodes = all.filter(({ host }) => host !== undefined && hosts.has(host));
  const { PairDocument } = await import('#documents/connectivity.ts');
  const ask = (node: ClusterNode) => askRoute(context, node, path, PairDocument);
  if (nodes.length > 0) return await context.askAll(nodes, ask);
  const replies: NodeReply<PairDocument>[] = [];
  for (const node of all) {
    const [reply] = await context.askAll([node], ask);
    if (reply === undefined) continue;
    replies.push(reply);
    if (reply.failure === undefined || reply.failure.reason === 'not-found') break;
  }
  return replies;
}

function pairText(
  answers: readonly { readonly node: ClusterNode; readonly answer: PairDocument }[],
): string {
  const byText = new Map<string, string[]>();
  for (const { node, answer } of answers) {
    const text = explanationText(answer);
    byText.set(text, [...(byText.get(text) ?? []), node.name]);
  }
  if (byText.size === 1) return [...byText.keys()][0] ?? '';
  const parts = [...byText].map(([text, nodes]) => `As ${nodes.join(', ')} sees it:\n${text}`);
  return [
    ...parts,
    'The nodes have different states of the cluster: look at etcd in their readiness.\n',
  ].join('\n');
}

function explanationText(answer: PairDocument): string {
  const { from, to, port, otherFamilies: families } = answer;
  const isPermitted = answer.verdict === 'permitted';
  const ports = !port && isPermitted ? `: ${answer.ports}` : '';
  const asked = port ? `, ${port.replace('/', ' ')}` : '';
  const lines = [`${from} => ${to}${asked}: ${isPermitted ? 'permitted' : 'denied'}${ports}`];
  if (families)
    lines.push(
      `No address family in common: ${from} has ${families.from}, ${to} has ${families.to}.`,
    );
  if (from === to) lines.push('A pod always reaches itself.');
  for (const [direction, end] of [
    ['egress', from],
    ['ingress', to],
  ] as const)
    lines.push(...directionLines(direction, end, answer[direction]));
  return `${lines.join('\n')}\n`;
}

function directionLines(
  direction: 'egress' | 'ingress',
  end: string,
  document: PairDocument['egress'],
): string[] {
  if (document === null) return [];
  const subject = `${direction} of ${end}`;
  const { policies, rules, undecided } = document;
  if (policies.length === 0) return [`${subject}: permitted, no policy applies to it`];
  return [
    `${subject}: decided by ${policies.join(', ')}`,
    ...rules.map(({ text, ports }) => `  ${text}: ${ports}`),
    ...(undecided === 'No Connections' ? [] : [`  permitted, no rule denies it: ${undecided}`]),
  ];
}
