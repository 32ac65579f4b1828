/** `netctl plan`: what a resync, or the objects of a file, would change on each node. Nothing is changed. */
import { readFile } from 'node:fs/promises';
import { stdin } from 'node:process';
import { addAbortSignal } from 'node:stream';
import type {
  ClusterPlan,
  ConnectionChange,
  ServedAddress,
  ServiceChange,
} from '#documents/connectivity.ts';
import type { Drift } from '#documents/scheduler/drift.ts';
import { defineError, errorText } from '#infra/errors/errors.ts';
import { hostAndPort } from '#models/ip.ts';
import {
  type ClusterNode,
  type Command,
  type CommandContext,
  ExitCode,
  type NodeReply,
  type TableRow,
} from '../command.ts';
import { failureRows, failuresOf, isForPeople, shortList } from '../failures.ts';
import { inForm } from '../requests/agent-document.ts';
import { askRoute, postRoute } from '../requests/missing.ts';
import { refusedFlows, refusedText } from '../suggestions/refused-flows.ts';

export const PlanFileError = defineError({
  name: 'PlanFileError',
  code: 'CV_NETCTL_PLAN_FILE',
  rejects: 'configuration',
  remedy: 'Give a file, or - for the standard input, with objects of Kubernetes in YAML or JSON.',
});

const sections = ['add', 'change', 'remove'] as const;
type Section = (typeof sections)[number];

export const plan: Command = {
  name: 'plan',
  summary: 'Show what a resync, or a manifest, would change; nothing is changed',
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
      name: 'file',
      short: 'f',
      value: 'path',
      description:
        'manifest with NetworkPolicy, Namespace, Pod, Service, Endpoints or EndpointSlice objects; - for the standard input',
      completes: 'files',
    },
    {
      name: 'as',
      value: 'change',
      description: 'what is done with the objects (default: add)',
      choices: sections,
    },
  ],
  examples: ['plan', 'plan node1', 'plan -f policy.yaml', 'plan -f service.yaml --as remove'],
  async run(context, { arguments: given, options }) {
    const { file, as = 'add' } = options;
    if (typeof file !== 'string') {
      if (options['as'] !== undefined) throw new PlanFileError('--as needs --file');
      return await planResync(context, await context.nodes(given['node']));
    }
    const objects = await objectsOf(file, context.signal);
    return await planObjects(context, await context.nodes(given['node']), objects, as as Section);
  },
};

// ---- a resync

async function planResync(
  context: CommandContext,
  nodes: readonly ClusterNode[],
): Promise<ExitCode> {
  const { Drift } = await import('#documents/scheduler/drift.ts');
  const replies = await context.askAll(nodes, (node) =>
    askRoute(context, node, 'scheduler/drift', Drift),
  );
  const count = replies.reduce((sum, { value }) => sum + (value?.Differences.length ?? 0), 0);
  const unread = replies.reduce((sum, { value }) => sum + (value?.Unread.length ?? 0), 0);
  context.output.list(
    {
      columns: [
        { title: 'NODE', whenNarrow: 'keep' },
        { title: 'IN-VPP-OR-LINUX', whenNarrow: 'keep' },
        { title: 'RESYNC', whenNarrow: 'keep' },
        { title: 'KEY' },
      ],
      rows: [...replies.flatMap(driftRows), ...failureRows(replies)],
    },
    {
      nodes: replies.flatMap(({ node, value }) => (value ? [{ name: node.name, ...value }] : [])),
      failures: failuresOf(replies),
    },
  );
  if (count > 0 && isForPeople(context))
    context.warn(
      'To carry it out on a node: curl --unix-socket /var/run/contiv/agent.sock -X POST http://agent/scheduler/downstream-resync',
    );
  const code = context.explainFailures(replies);
  // Values that cannot be read may differ.
  return count + unread > 0 && code === ExitCode.Success ? ExitCode.Negative : code;
}

const operations: Readonly<Record<string, string>> = {
  missing: 'create',
  different: 'update',
  broken: 'recreate',
  stale: 'delete',
  leftover: 'remove',
};

function driftRows({ node, value }: NodeReply<Drift>): TableRow[] {
  if (value === undefined) return [];
  const unread = value.Unread.map(
    ({ Descriptor, Error: error }): TableRow => ({
      cells: [node.name, 'not read', '', `${Descriptor}: ${error}`],
      color: 'red',
    }),
  );
  const rows = value.Differences.map(({ Key, Difference, Reason, Error: error }): TableRow => {
    const texts = [Key, ...(Reason ? [Reason] : []), ...(error ? [`failed before: ${error}`] : [])];
    return {
      cells: [node.name, Difference, operations[Difference] ?? '', texts.join(': ')],
      color: 'yellow',
    };
  });
  if (rows.length + unread.length > 0) return [...unread, ...rows];
  const note = `nothing to do: ${value.Compared} values are as desired`;
  return [{ cells: [node.name], note, color: 'green' }];
}

// ---- objects of a file

const kinds: readonly string[] = [
  'NetworkPolicy',
  'Namespace',
  'Pod',
  'Service',
  'Endpoints',
  'EndpointSlice',
];

async function objectsOf(file: string, signal: AbortSignal): Promise<readonly object[]> {
  const where = file === '-' ? 'standard input' : file;
  const { parseAllDocuments } = await import('yaml');
  let documents: unknown[];
  try {
    const text = file === '-' ? await inputText(signal) : await readFile(file, 'utf8');
    documents = parseAllDocuments(text).map((one) => {
      // The first line has the place; the others show it.
      const [problem] = one.errors[0]?.message.split(/:?\n/) ?? [];
      if (problem !== undefined) throw new Error(problem);
      return one.toJS({ maxAliasCount: 100 }) as unknown;
    });
  } catch (cause) {
    signal.throwIfAborted();
    throw new PlanFileError(`cannot read the objects: ${errorText(cause)}`, { where, cause });
  }
  const { Type } = await import('typebox');
  const kind = Type.String();
  const Manifest = Type.Object({
    kind,
    items: Type.Optional(Type.Array(Type.Object({ kind }))),
  });
  const objects = documents
    .map((one) => inForm(Manifest, one))
    .flatMap((one) => (one.kind === 'List' ? (one.items ?? []) : [one]))
    .filter((one) => Object.keys(one).length > 1 || one.kind !== '');
  const other = objects.find(({ kind }) => !kinds.includes(kind));
  if (other)
    throw new PlanFileError(
      `${other.kind || 'an object without kind'} cannot be planned; ${kinds.join(', ')} can`,
      { where },
    );
  if (objects.length === 0) throw new PlanFileError('there is no object', { where });
  return objects;
}

/** Ctrl-C ends it: a synchronous read would wait for the end of the input. */
async function inputText(signal: AbortSignal): Promise<string> {
  let text = '';
  for await (const piece of addAbortSignal(signal, stdin.setEncoding('utf8'))) text += piece;
  return text;
}

async function planObjects(
  context: CommandContext,
  nodes: readonly ClusterNode[],
  objects: readonly object[],
  section: Section,
): Promise<ExitCode> {
  const field = { add: 'added', change: 'changed', remove: 'removed' }[section];
  const { ClusterPlan } = await import('#documents/connectivity.ts');
  const replies = await context.askAll(nodes, (node) =>
    postRoute(context, node, 'contiv/v1/policy/plan', { [field]: objects }, ClusterPlan),
  );
  const answers = replies.flatMap(({ node, value }) => (value ? [{ node, value }] : []));
  if (answers.length > 0) {
    const seen = await refusedFlows(context, nodes, { [field]: objects });
    if (isForPeople(context)) context.output.text(`${planText(answers)}${refusedText(seen)}\n`);
    else
      context.output.document({
        nodes: answers.map(({ node, value }) => ({ name: node.name, ...value })),
        flows: seen,
        failures: failuresOf(replies),
      });
  }
  return context.explainFailures(replies);
}

interface Answer {
  readonly node: ClusterNode;
  readonly value: ClusterPlan;
}

function planText(answers: readonly Answer[]): string {
  const lines = unique(answers, ({ problems }) => problems.map(({ text }) => `Note: ${text}`));
  const changes = unique(answers, (value) => value.changes.map(changeText));
  lines.push(
    changes.length === 0 ? 'No connection between pods changes.' : 'Connections:',
    ...changes,
  );
  // Nodes serve a service at other node ports, and prefer other backends.
  for (const { node, value } of answers) {
    for (const one of value.services) lines.push(...serviceLines(node, one));
    lines.push(`${node.name}: ${value.operations.length === 0 ? 'no value changes' : 'values'}`);
    for (const { operation, key } of value.operations) lines.push(`  ${operation} ${key}`);
  }
  return `${lines.join('\n')}\n`;
}

function serviceLines(node: ClusterNode, change: ServiceChange): string[] {
  const linesOf = (field: 'before' | 'after'): readonly string[] =>
    (change[field] ?? []).map((one) => `${hostAndPort(one)} ${one.protocol} ${servedText(one)}`);
  const [before, after] = [linesOf('before'), linesOf('after')];
  return [
    `${node.name}: service ${change.service}`,
    ...before.filter((line) => !after.includes(line)).map((line) => `  - ${line}`),
    ...after.filter((line) => !before.includes(line)).map((line) => `  + ${line}`),
  ];
}

/** For clients of each carrier, once for those with the same backends. */
function servedText({ backends, sourceRanges, carriers }: ServedAddress): string {
  const ways = Map.groupBy(carriers, (one) => listText(one.backends ?? backends));
  const texts = [...ways].map(
    ([list, of]) => `to ${list} by ${of.map(({ carrier }) => carrier).join(', ')}`,
  );
  // an agent of an earlier release does not name carriers
  const text = texts.join(', ') || `to ${listText(backends)}`;
  if (sourceRanges === undefined) return text;
  const clients = sourceRanges.length === 0 ? 'no client' : `${shortList(sourceRanges, 5)} only`;
  return `${text}, for ${clients}`;
}

function listText(backends: readonly string[]): string {
  return backends.length === 0 ? 'no backend' : shortList(backends, 5);
}

/** All nodes compute the same connections; one whose state is older adds what it sees. */
function unique(
  answers: readonly Answer[],
  textsOf: (plan: ClusterPlan) => readonly string[],
): string[] {
  return [...new Set(answers.flatMap(({ value }) => textsOf(value)))];
}

function changeText({ from, to, before, after, reasons = [] }: ConnectionChange): string {
  const pair = `${from} => ${to}`;
  const line = (sign: string, ports: string): string[] =>
    ports === '' || ports === 'No Connections' ? [] : [`  ${sign} ${pair} : ${ports}`];
  const why = reasons.map((reason) => `      ${reason}`);
  return [...line('-', before), ...line('+', after), ...why].join('\n');
}
