/** `netctl policies`: which network policies isolate pods, and for one pod what they permit. */
import type {
  PolicyAttachment,
  PolicyPodDocument,
  PolicyPodSummary,
  RuleList,
} from '#documents/policies.ts';
import type { ValueState } from '#documents/value-states.ts';
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
import { failureRows, failuresOf, isForPeople } from '../failures.ts';
import { peersInWords } from '../peers-in-words.ts';
import { askIfKnown, askRoute } from '../requests/missing.ts';

/** In place of a node. */
const SUGGEST = 'suggest';
const ENFORCEMENT = 'enforcement';

export const policies: Command = {
  name: 'policies',
  summary: 'List the policies that isolate pods, or explain those of one pod',
  arguments: [
    {
      name: 'node',
      description:
        'node to ask; default: all. enforcement: lists policies of the cluster that nodes do not enforce. suggest: prints policies that permit what was seen in a namespace',
      isOptional: true,
      completes: 'nodes',
    },
    {
      name: 'pod',
      description: 'pod or workload as namespace/name; the namespace after suggest',
      isOptional: true,
      completes: 'pods',
    },
  ],
  options: [{ name: 'isolated', description: 'only pods that a policy isolates' }],
  examples: [
    'policies enforcement',
    'policies suggest shop',
    'policies',
    'policies node1',
    'policies shop/web-0',
    'policies --isolated -o wide',
  ],
  async run(context, input) {
    const [first] = input.arguments['node'] ?? [];
    if (first === SUGGEST) {
      const [namespace] = input.arguments['pod'] ?? [];
      const { suggest } = await import('../suggestions/suggest.ts');
      return await suggest(context, namespace);
    }
    if (first === ENFORCEMENT) {
      const { enforcement } = await import('./enforcement.ts');
      return await enforcement(context);
    }
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
  const { PolicyPodList } = await import('#documents/policies.ts');
  const replies = await context.askAll(nodes, async (node) => {
    const pods = await askRoute(context, node, 'contiv/v1/policy/pods', PolicyPodList);
    return onlyIsolated ? pods.filter((pod) => isIsolated(pod)) : pods;
  });
  const answered = replies.some(({ failure }) => failure === undefined);
  const count = replies.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
  if (answered && count === 0 && isForPeople(context))
    context.output.text(
      onlyIsolated
        ? 'No policy applies to a pod: all pods may send and receive everything.'
        : 'No pod is attached. netctl pods lists the pods of the cluster.',
    );
  else
    context.output.list(
      {
        columns: [
          { title: 'NODE', whenNarrow: 'keep' },
          { title: 'POD', whenNarrow: 'keep' },
          { title: 'IP', isWide: true },
          { title: 'INGRESS' },
          { title: 'EGRESS' },
          { title: 'STATE' },
        ],
        rows: [...replies.flatMap(podRows), ...failureRows(replies)],
      },
      {
        pods: replies.flatMap(({ node, value = [] }) =>
          value.map((pod) => ({ ...pod, node: node.name })),
        ),
        failures: failuresOf(replies),
      },
    );
  return context.explainFailures(replies);
}

function isIsolated({ ingress, egress }: PolicyPodSummary): boolean {
  return ingress.length > 0 || egress.length > 0;
}

function podRows({ node, value = [] }: NodeReply<readonly PolicyPodSummary[]>): TableRow[] {
  return value.map(({ name, addresses, ingress, egress, notAsDefined = [], values }) => {
    const failed = [
      ...failedValues(values),
      ...notAsDefined.map((policy) => `${policyNames([policy], name)} permits less than defined`),
    ];
    return {
      cells: [
        node.name,
        name,
        addresses.join(', '),
        policyNames(ingress, name),
        policyNames(egress, name),
        failed.join('; ') || 'applied',
      ],
      ...(failed.length > 0 && { color: 'yellow' as const }),
    };
  });
}

/** Policies are in the namespace of the pod, so theirs is left out. */
function policyNames(list: readonly string[], pod: string): string {
  const namespace = pod.slice(0, pod.indexOf('/') + 1);
  const names = list.map((name) =>
    name.startsWith(namespace) ? name.slice(namespace.length) : name,
  );
  return names.join(', ') || 'open';
}

/** Why ACLs of the pod are not as the policies say. */
function failedValues(values: readonly Pick<ValueState, 'state' | 'error'>[]): string[] {
  return values
    .filter(({ state }) => state !== 'CONFIGURED')
    .map(({ state, error = '' }) => `ACL ${state} ${error}`.trimEnd());
}

// ---- one pod

async function explain(
  context: CommandContext,
  nodes: readonly ClusterNode[],
  named: string,
): Promise<ExitCode> {
  const pods = await context.pods().catch(() => undefined);
  let pod = named;
  let replies = await askForPod(context, nodes, pod);
  if (replies.every(({ value }) => value === undefined)) {
    pod = (await podOfWorkload(context, nodes, named)) ?? named;
    if (pod !== named) replies = await askForPod(context, nodes, pod);
  }
  const known = replies.flatMap(({ node, value }) => (value ? [{ node, value }] : []));
  if (!isForPeople(context))
    context.output.document({
      pod,
      nodes: known.map(({ node, value }) => ({ ...value, name: node.name })),
      failures: failuresOf(replies),
    });
  else
    context.output.text(
      known.length === 0
        ? unknownText(pod, replies)
        : known.map(({ node, value }) => podText(pod, node, value, pods)).join('\n'),
    );
  const code = context.explainFailures(replies);
  return known.length === 0 && code === ExitCode.Success ? ExitCode.Negative : code;
}

async function askForPod(
  context: CommandContext,
  nodes: readonly ClusterNode[],
  pod: string,
): Promise<readonly NodeReply<PolicyPodDocument | undefined>[]> {
  const path = `contiv/v1/policy/pods/${pod.split('/').map(encodeURIComponent).join('/')}`;
  const { PolicyPodDocument } = await import('#documents/policies.ts');
  return await context.askAll(nodes, (node) => askIfKnown(context, node, path, PolicyPodDocument));
}

/** The pod that stands for a workload in `netctl connectivity`, too: each agent knows the pods of the cluster. */
async function podOfWorkload(
  context: CommandContext,
  nodes: readonly ClusterNode[],
  workload: string,
): Promise<string | undefined> {
  const path = `contiv/v1/policy/connectivity?${new URLSearchParams({ from: workload, to: workload })}`;
  const { PairDocument } = await import('#documents/connectivity.ts');
  for (const node of nodes) {
    const [reply] = await context.askAll([node], () =>
      askIfKnown(context, node, path, PairDocument),
    );
    if (reply?.failure === undefined) return reply?.value?.from;
  }
  return undefined;
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
  document: PolicyPodDocument,
  pods: readonly ClusterPod[] | undefined,
): string {
  const lines: string[] = [];
  for (const attachment of document.attachments) {
    lines.push(`${pod} (${attachment.addresses.join(', ')}) on ${node.name}`, '');
    for (const direction of ['ingress', 'egress'] as const)
      lines.push(...directionLines(pod, direction, attachment[direction], pods), '');
    lines.push(...aclLines(attachment));
  }
  for (const field of ['problems', 'limits'] as const)
    for (const [policy, texts] of Object.entries(document[field]))
      for (const text of texts) lines.push(`Policy ${policy}: ${text}`);
  return `${lines.join('\n')}\n`;
}

function directionLines(
  pod: string,
  direction: 'ingress' | 'egress',
  { policies, rules }: RuleList,
  pods: readonly ClusterPod[] | undefined,
): string[] {
  const title = direction === 'ingress' ? 'To the pod' : 'From the pod';
  const word = direction === 'ingress' ? 'from' : 'to';
  if (policies.length === 0) return [`${title}: everything is permitted, no policy applies to it`];
  const lines = [`${title}: the first that matches of ${policyNames(policies, pod)} decides`];
  for (const rule of rules) {
    const peers = peersInWords(rule.peers, pods);
    lines.push(`  ${portsInWords(rule.ports)} ${word} ${peers}`);
    lines.push(`    ${rule.text}`);
  }
  return lines;
}

function portsInWords(ports: string): string {
  return ports === 'any' || ports === '' ? 'all ports' : ports;
}

function aclLines({ values }: PolicyAttachment): string[] {
  const failed = failedValues(values);
  const missing = values.filter(({ state, actual }) => state === 'CONFIGURED' && actual === null);
  if (failed.length + missing.length === 0) return [`In VPP: ${values.length} ACLs, all applied`];
  return [
    ...failed.map((text) => `In VPP: ${text}`),
    ...missing.map((value) => `In VPP: missing: ${value.key}; see netctl plan`),
  ];
}
