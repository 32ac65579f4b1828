/** `netctl policies`: which network policies isolate pods, and for one pod what they permit. */
import {
  type ClusterNode,
  type ClusterPod,
  type Command,
  type CommandContext,
  type CommandInput,
  ExitCode,
  type NodeReply,
  type TableRow,
} from '../command.ts';
import { type Fields, fieldsOf, objectsIn, textOf, textsIn } from '../document-fields.ts';
import { failureRows, failuresOf, isForPeople } from '../failures.ts';
import { peersInWords } from '../peers-in-words.ts';
import { askIfKnown, askRoute } from '../requests/missing.ts';

export const policies: Command = {
  name: 'policies',
  summary: 'List the policies that isolate pods, or explain those of one pod',
  arguments: [
    {
      name: 'node',
      description: 'node to ask; default: all',
      isOptional: true,
      completes: 'nodes',
    },
    { name: 'pod', description: 'pod as namespace/name', isOptional: true, completes: 'pods' },
  ],
  options: [{ name: 'isolated', description: 'only pods that a policy isolates' }],
  examples: ['policies', 'policies node1', 'policies shop/web-0', 'policies --isolated -o wide'],
  async run(context, input) {
    const { node, pod } = selectionOf(input);
    const nodes = await context.nodes(node);
    if (pod !== undefined) return await explain(context, nodes, pod);
    return await list(context, nodes, input.options['isolated'] === true);
  },
};

/** A pod has a slash, which the name of a node cannot have. */
function selectionOf({ arguments: given }: CommandInput): {
  readonly node: readonly string[] | undefined;
  readonly pod: string | undefined;
} {
  const [first] = given['node'] ?? [];
  const [second] = given['pod'] ?? [];
  if (second === undefined && first?.includes('/')) return { node: undefined, pod: first };
  const pod = second === undefined || second.includes('/') ? second : `default/${second}`;
  return { node: first === undefined ? undefined : [first], pod };
}

// ---- all pods

async function list(
  context: CommandContext,
  nodes: readonly ClusterNode[],
  onlyIsolated: boolean,
): Promise<ExitCode> {
  const replies = await context.askAll(nodes, async (node) => {
    const pods = objectsIn(await askRoute(context, node, 'contiv/v1/policy/pods'));
    return onlyIsolated ? pods.filter((pod) => isIsolated(pod)) : pods;
  });
  const answered = replies.some(({ failure }) => failure === undefined);
  const count = replies.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
  if (answered && count === 0 && isForPeople(context))
    context.output.text(
      onlyIsolated
        ? 'No policy isolates a pod: all pods may send and receive everything.'
        : 'No pod is attached. netctl pods lists the pods of the cluster.',
    );
  else
    context.output.list(
      {
        columns: [
          { title: 'NODE', whenNarrow: 'keep' },
          { title: 'POD' },
          { title: 'IP', isWide: true },
          { title: 'INGRESS' },
          { title: 'EGRESS' },
          { title: 'STATE' },
        ],
        rows: [...replies.flatMap(podRows), ...failureRows(replies)],
      },
      {
        pods: replies.flatMap(({ node, value = [] }) =>
          value.map((pod) => ({ node: node.name, ...pod })),
        ),
        failures: failuresOf(replies),
      },
    );
  return context.explainFailures(replies);
}

function isIsolated(pod: Fields): boolean {
  return textsIn(pod['ingress']).length > 0 || textsIn(pod['egress']).length > 0;
}

function podRows({ node, value = [] }: NodeReply<readonly Fields[]>): TableRow[] {
  return value.map((pod) => {
    const name = textOf(pod['name']);
    const failed = failedValues(pod);
    return {
      cells: [
        node.name,
        name,
        textsIn(pod['addresses']).join(', '),
        policyNames(pod['ingress'], name),
        policyNames(pod['egress'], name),
        failed.join('; ') || 'applied',
      ],
      ...(failed.length > 0 && { color: 'yellow' as const }),
    };
  });
}

/** Policies are in the namespace of the pod, so theirs is left out. */
function policyNames(list: unknown, pod: string): string {
  const namespace = pod.slice(0, pod.indexOf('/') + 1);
  const names = textsIn(list).map((name) =>
    name.startsWith(namespace) ? name.slice(namespace.length) : name,
  );
  return names.join(', ') || 'open';
}

/** Why ACLs of the pod are not as the policies say. */
function failedValues(pod: Fields): string[] {
  return objectsIn(pod['values'])
    .filter(({ state }) => state !== 'CONFIGURED')
    .map((value) => `ACL ${textOf(value['state'])} ${textOf(value['error'])}`.trimEnd());
}

// ---- one pod

async function explain(
  context: CommandContext,
  nodes: readonly ClusterNode[],
  pod: string,
): Promise<ExitCode> {
  const path = `contiv/v1/policy/pods/${pod.split('/').map(encodeURIComponent).join('/')}`;
  const [replies, pods] = await Promise.all([
    context.askAll(nodes, (node) => askIfKnown(context, node, path)),
    context.pods().catch(() => undefined),
  ]);
  const known = replies.filter(({ value }) => value !== undefined);
  if (!isForPeople(context))
    context.output.document({
      pod,
      nodes: known.map(({ node, value }) => ({ name: node.name, ...fieldsOf(value) })),
      failures: failuresOf(replies),
    });
  else
    context.output.text(
      known.length === 0
        ? unknownText(pod, replies)
        : known.map(({ node, value }) => podText(pod, node, fieldsOf(value), pods)).join('\n'),
    );
  const code = context.explainFailures(replies);
  return known.length === 0 && code === ExitCode.Success ? ExitCode.Negative : code;
}

function unknownText(pod: string, replies: readonly NodeReply<unknown>[]): string {
  const failed = replies
    .filter(({ failure }) => failure !== undefined)
    .map(({ node }) => node.name);
  const where =
    failed.length === 0 ? 'any node' : `a node that answers (not: ${failed.join(', ')})`;
  return [
    `Pod ${pod} is not attached to the network of ${where}.`,
    'netctl policies lists the attached pods. Pods in the network of their host are not',
    'attached: no policy applies to them.',
  ].join('\n');
}

function podText(
  pod: string,
  node: ClusterNode,
  document: Fields,
  pods: readonly ClusterPod[] | undefined,
): string {
  const lines: string[] = [];
  for (const attachment of objectsIn(document['attachments'])) {
    lines.push(`${pod} (${textsIn(attachment['addresses']).join(', ')}) on ${node.name}`, '');
    for (const direction of ['ingress', 'egress'] as const)
      lines.push(...directionLines(pod, direction, fieldsOf(attachment[direction]), pods), '');
    lines.push(...aclLines(attachment));
  }
  for (const field of ['problems', 'limits'])
    for (const [policy, texts] of Object.entries(fieldsOf(document[field])))
      for (const text of textsIn(texts)) lines.push(`Policy ${policy}: ${text}`);
  return `${lines.join('\n')}\n`;
}

function directionLines(
  pod: string,
  direction: 'ingress' | 'egress',
  isolation: Fields,
  pods: readonly ClusterPod[] | undefined,
): string[] {
  const title = direction === 'ingress' ? 'To the pod' : 'From the pod';
  const word = direction === 'ingress' ? 'from' : 'to';
  const isolating = textsIn(isolation['isolatedBy']);
  if (isolating.length === 0) return [`${title}: everything is permitted, no policy isolates it`];
  const permits = objectsIn(isolation['permits']);
  const lines = [`${title}: isolated by ${policyNames(isolating, pod)}`];
  if (permits.length === 0) return [...lines, '  permitted: nothing'];
  for (const permit of permits) {
    const ports = portsInWords(textOf(permit['ports']));
    const peers = peersInWords(textsIn(permit['peers']), pods);
    const rule = `spec.${direction}[${textOf(permit['rule'])}]`;
    lines.push(`  permitted: ${ports} ${word} ${peers}`);
    lines.push(`    by ${textOf(permit['policy'])}, ${rule}`);
  }
  return lines;
}

function portsInWords(ports: string): string {
  return ports === 'any' || ports === '' ? 'all ports' : ports;
}

function aclLines(attachment: Fields): string[] {
  const values = objectsIn(attachment['values']);
  const failed = failedValues(attachment);
  const missing = values.filter(({ state, actual }) => state === 'CONFIGURED' && actual === null);
  if (failed.length + missing.length === 0) return [`In VPP: ${values.length} ACLs, all applied`];
  return [
    ...failed.map((text) => `In VPP: ${text}`),
    ...missing.map((value) => `In VPP: missing: ${textOf(value['key'])}; see netctl plan`),
  ];
}
