/** Connectivity as text for operators. */
import { changeReasons } from './change-reasons.ts';
import type { ChangedConnection, Connection } from './connections.ts';
import { type Endpoint, isOutside } from './endpoints.ts';
import type { DirectionExplanation, Explanation } from './explanation.ts';
import { portsText } from './ports-text.ts';
import { ruleText } from './rule-document.ts';

/** undefined: connections between the pods of one workload have no line. */
export function connectionLine({ from, to, ports }: Connection): string | undefined {
  return from === to ? undefined : line(from, to, portsText(ports));
}

/** The line of the first state after `-`, that of the second one after `+`, then the rules because of which they differ. */
export function changeLines(changed: ChangedConnection): string[] {
  const { from, to, before, after } = changed;
  return [
    ...(before.isEmpty ? [] : [`- ${line(from, to, portsText(before))}`]),
    ...(after.isEmpty ? [] : [`+ ${line(from, to, portsText(after))}`]),
    ...changeReasons(changed).map((reason) => `    ${reason}`),
  ];
}

function line(from: Endpoint, to: Endpoint, ports: string): string {
  return `${from.name} => ${to.name} : ${ports}`;
}

/** Connectivity in the language of Graphviz. */
export function* dotPieces(
  connections: Iterable<Connection | undefined>,
): Generator<string, void, void> {
  yield 'digraph connectivity {\n  rankdir=LR;\n  node [shape=box];\n';
  const outside = new Set<string>();
  for (const connection of connections) {
    if (connection === undefined || connection.from === connection.to) continue;
    const { from, to, ports } = connection;
    for (const endpoint of [from, to]) {
      if (!isOutside(endpoint) || outside.has(endpoint.name)) continue;
      outside.add(endpoint.name);
      yield `  ${quoted(endpoint.name)} [shape=ellipse];\n`;
    }
    yield `  ${quoted(from.name)} -> ${quoted(to.name)} [label=${quoted(portsText(ports))}];\n`;
  }
  yield '}\n';
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

export function explanationText(explanation: Explanation): string {
  const { from, to, port, permitted, otherFamilies, egress, ingress } = explanation;
  const asked = port === undefined ? '' : `, ${port.protocol} ${port.port}`;
  const verdict = permitted.isEmpty
    ? 'denied'
    : port === undefined
      ? `permitted: ${portsText(permitted)}`
      : 'permitted';
  const lines = [`${from} => ${to}${asked}: ${verdict}`];
  if (otherFamilies)
    lines.push(
      `No address family in common: ${from} has ${otherFamilies.from}, ${to} has ${otherFamilies.to}.`,
    );
  if (from === to) lines.push('A pod always reaches itself.');
  if (egress) lines.push(...directionLines(`egress of ${from}`, 'egress', egress));
  if (ingress) lines.push(...directionLines(`ingress of ${to}`, 'ingress', ingress));
  return `${lines.join('\n')}\n`;
}

function directionLines(
  subject: string,
  direction: 'ingress' | 'egress',
  { policies, rules, undecided }: DirectionExplanation,
): string[] {
  if (policies.length === 0) return [`${subject}: permitted, no policy applies to it`];
  const lines = rules.map(
    ({ rule, ports }) => `  ${ruleText(rule, direction)}: ${portsText(ports)}`,
  );
  const rest = undecided.isEmpty ? [] : [`  permitted, no rule denies it: ${portsText(undecided)}`];
  return [`${subject}: decided by ${policies.join(', ')}`, ...lines, ...rest];
}
