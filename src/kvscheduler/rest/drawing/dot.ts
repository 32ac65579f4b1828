/** The graph in the DOT language of Graphviz. */

import type { NodeTarget } from '#documents/scheduler/timeline.ts';
import type { Slices } from '#infra/clock/slices.ts';
import type { RecordedTxn } from '../../history/record.ts';
import { valueText } from '../../history/record-text.ts';
import type { RecordedNode } from '../../history/timeline/recorded-node.ts';

type Attributes = Readonly<Record<string, string | number>>;

const FONT = 'Helvetica';

/**
 * @param txn the transaction whose values are marked; absent: the current graph
 * @returns the text in parts
 */
export async function dotPieces(
  nodes: Iterable<RecordedNode>,
  txn: RecordedTxn | undefined,
  slices: Slices,
): Promise<Iterable<string>> {
  const clusters = new Map<string, RecordedNode[]>();
  for (const node of nodes) {
    if (slices.due()) await slices.turn();
    const descriptor = node.Flags.descriptor ?? '';
    const inside = clusters.get(descriptor);
    if (inside) inside.push(node);
    else clusters.set(descriptor, [node]);
  }
  return pieces(clusters, txn);
}

function* pieces(
  clusters: ReadonlyMap<string, readonly RecordedNode[]>,
  txn: RecordedTxn | undefined,
): Generator<string, void, void> {
  const touched = new Set<string>();
  for (const { Key } of txn?.Executed ?? []) touched.add(Key);
  const title = `KVScheduler graph - ${txn ? `SeqNum #${txn.SeqNum}` : 'current'}`;
  yield 'digraph kvscheduler {\n';
  yield `  graph ${list({ label: title, labelloc: 't', rankdir: 'LR', fontname: FONT })}\n`;
  yield `  node ${list({ shape: 'box', style: 'filled', fontname: FONT, fontsize: 11 })}\n`;
  yield `  edge ${list({ arrowsize: 0.8 })}\n`;
  for (const [descriptor, inside] of clusters) {
    if (descriptor !== '') yield clusterHead(descriptor);
    for (const node of inside)
      yield `    ${quoted(node.Key)} ${list(nodeAttributes(node, touched.has(node.Key)))}\n`;
    if (descriptor !== '') yield '  }\n';
  }
  for (const inside of clusters.values())
    for (const { Key, Targets } of inside) for (const target of Targets) yield edges(Key, target);
  yield '}\n';
}

function clusterHead(descriptor: string): string {
  const attributes = { label: `< ${descriptor} >`, style: 'filled', color: '#e6ecfa' };
  return `  subgraph ${quoted(`cluster_${descriptor}`)} {\n    graph ${list(attributes)}\n`;
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

function edges(from: string, target: NodeTarget): string {
  const { Relation, Label, ExpectedKey, MatchingKeys } = target;
  const edge = (to: string, attributes: Attributes): string =>
    `  ${quoted(from)} -> ${quoted(to)} ${list(attributes)}\n`;
  const all = (attributes: Attributes): string =>
    MatchingKeys.map((to) => edge(to, attributes)).join('');
  if (Relation === 'derives') return all({ color: 'bisque4', arrowhead: 'invempty' });
  if (MatchingKeys.length > 0) return all({ color: 'Black', edgetooltip: Label });
  return edge(ExpectedKey || `? ${Label} ?`, { color: 'Red', edgetooltip: Label });
}

function list(attributes: Attributes): string {
  const texts = Object.entries(attributes).map(([name, value]) => `${name}=${quoted(value)}`);
  return `[${texts.join(' ')}]`;
}

function quoted(value: string | number): string {
  const text = String(value).replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  return `"${text.replaceAll('\n', '\\n')}"`;
}
