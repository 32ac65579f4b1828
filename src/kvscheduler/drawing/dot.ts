/** The graph in the language of graphviz. */
import type { RecordedTxn } from '../record.ts';
import { valueText } from '../recordtext.ts';
import type { Slices } from '../slices.ts';
import type { RecordedNode, RecordedTarget } from '../timeline/recordednode.ts';

type Attributes = Readonly<Record<string, string | number>>;

/** @param txn its values are marked; absent: this is the graph of now */
export async function dotText(
  nodes: readonly RecordedNode[],
  txn: RecordedTxn | undefined,
  slices: Slices,
): Promise<string> {
  const touched = new Set((txn?.Executed ?? []).map(({ Key }) => Key));
  const clusters = new Map<string, string[]>();
  const edges: string[] = [];
  for (const node of nodes) {
    if (slices.due()) await slices.turn();
    const descriptor = node.Flags.descriptor ?? '';
    const lines = clusters.get(descriptor) ?? [];
    clusters.set(descriptor, lines);
    lines.push(`${quoted(node.Key)} ${list(nodeAttributes(node, touched.has(node.Key)))}`);
    for (const target of node.Targets) edges.push(...edgeLines(node.Key, target));
  }
  const title = `KVScheduler graph - ${txn ? `SeqNum #${txn.SeqNum}` : 'current'}`;
  const lines = [
    'digraph kvscheduler {',
    `  graph ${list({ label: title, labelloc: 't', rankdir: 'LR', fontname: 'Helvetica' })}`,
    `  node ${list({ shape: 'box', style: 'filled', fontname: 'Helvetica', fontsize: 11 })}`,
    `  edge ${list({ arrowsize: 0.8 })}`,
  ];
  for (const [descriptor, inside] of clusters)
    if (descriptor === '') lines.push(...inside.map((line) => `  ${line}`));
    else lines.push(...clusterLines(descriptor, inside));
  lines.push(...edges.map((edge) => `  ${edge}`), '}', '');
  return lines.join('\n');
}

function clusterLines(descriptor: string, inside: readonly string[]): string[] {
  const attributes = { label: `< ${descriptor} >`, style: 'filled', color: '#e6ecfa' };
  return [
    `  subgraph ${quoted(`cluster_${descriptor}`)} {`,
    `    graph ${list(attributes)}`,
    ...inside.map((line) => `    ${line}`),
    '  }',
  ];
}

function nodeAttributes(node: RecordedNode, touched: boolean): Attributes {
  const state = node.Flags['value-state'] ?? 'NONEXISTENT';
  const value = node.Value ? `\n${valueText(node.Value)}` : '';
  return {
    label: node.Label,
    ...styleOf(state, node.Flags.derived !== undefined),
    ...(touched && { color: 'Gold', penwidth: 2 }),
    href: `key-timeline?key=${encodeURIComponent(node.Key)}`,
    tooltip: `[${state}] ${node.Key}${value}`,
  };
}

const derivedStates: ReadonlySet<string> = new Set(['CONFIGURED', 'OBTAINED', 'DISCOVERED']);

const styles: Readonly<Record<string, Attributes>> = {
  CONFIGURED: { fillcolor: 'PaleGreen' },
  OBTAINED: { fillcolor: 'LightCyan' },
  DISCOVERED: { fillcolor: 'Lime' },
  NONEXISTENT: { fillcolor: 'Black', fontcolor: 'White' },
  REMOVED: { fillcolor: 'Black', fontcolor: 'White', style: 'filled,dashed' },
  MISSING: { fillcolor: 'Dimgray', style: 'filled,dashed' },
  UNIMPLEMENTED: { fillcolor: 'Darkkhaki', style: 'filled,dashed' },
  PENDING: { fillcolor: 'Pink', style: 'filled,dashed' },
  INVALID: { fillcolor: 'Maroon', fontcolor: 'White' },
  FAILED: { fillcolor: 'Orangered' },
  RETRYING: { fillcolor: 'Deeppink' },
};

function styleOf(state: string, isDerived: boolean): Attributes {
  if (isDerived && derivedStates.has(state))
    return { fillcolor: 'LightYellow', color: 'bisque4', style: 'filled,rounded' };
  return styles[state] ?? {};
}

function edgeLines(from: string, target: RecordedTarget): string[] {
  const { Relation, Label, ExpectedKey, MatchingKeys } = target;
  const edge = (to: string, attributes: Attributes): string =>
    `${quoted(from)} -> ${quoted(to)} ${list(attributes)}`;
  if (Relation === 'derives')
    return MatchingKeys.map((to) => edge(to, { color: 'bisque4', arrowhead: 'invempty' }));
  if (MatchingKeys.length > 0)
    return MatchingKeys.map((to) => edge(to, { color: 'Black', edgetooltip: Label }));
  return [edge(ExpectedKey || `? ${Label} ?`, { color: 'Red', edgetooltip: Label })];
}

function list(attributes: Attributes): string {
  const texts = Object.entries(attributes).map(([name, value]) => `${name}=${quoted(value)}`);
  return `[${texts.join(' ')}]`;
}

function quoted(value: string | number): string {
  const text = String(value).replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  return `"${text.replaceAll('\n', '\\n')}"`;
}
