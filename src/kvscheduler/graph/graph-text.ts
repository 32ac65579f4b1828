import { RecordedValue } from '../history/record.ts';
import { valueText } from '../history/record-text.ts';
import type { Graph } from './graph.ts';
import type { Node } from './node.ts';

/** The graph as text, one line per value in the order of the keys. */
export function* graphText(graph: Graph): Generator<string, void, void> {
  yield '  * graph as it was found:\n';
  let isEmpty = true;
  for (const node of graph.stepwise('')) {
    isEmpty = false;
    yield `      - ${node.key} ${stateText(node)}: ${nodeText(node)}\n`;
  }
  if (isEmpty) yield '      <NONE>\n';
}

function stateText({ state, available, base }: Node): string {
  const remarks = [
    state,
    ...(available ? [] : ['unavailable']),
    ...(base ? [`derived from ${base.key}`] : []),
  ];
  return `[${remarks.join(', ')}]`;
}

function nodeText({ descriptor, actual, desired, rejected }: Node): string {
  const value = actual ?? desired ?? rejected?.value;
  return valueText(value && new RecordedValue(descriptor, value));
}
