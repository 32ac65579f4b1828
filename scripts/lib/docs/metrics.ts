import ts from 'typescript';
import { expand } from './factories.ts';
import { roomOf, textOf } from './source.ts';
import { byKey, type Row, renderTable } from './table.ts';

export interface MetricText {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
  readonly room: string;
}

const types = ['Counter', 'Gauge', 'Histogram', 'Summary'];

/** What is passed to the constructors of prom-client. */
export function metrics(): MetricText[] {
  const isSpec = (node: ts.Node): boolean => types.includes(typeOf(node));
  return expand(['name', 'help'], isSpec).map(({ literal, values, source, where }) => {
    const text = (field: string): string => {
      const value = values.get(field);
      const found = textOf(value?.expression, value?.source ?? source);
      if (found === undefined)
        throw new Error(`${where}: ${field} of a metric has to be a literal`);
      return found;
    };
    return {
      name: text('name'),
      type: typeOf(literal).toLowerCase(),
      labels: labelsOf(literal),
      help: text('help'),
      room: roomOf(source.path),
    };
  });
}

/** Class of prom-client that an object literal is the argument of; empty: none. */
function typeOf(node: ts.Node): string {
  const { parent } = node;
  return ts.isNewExpression(parent) ? parent.expression.getText() : '';
}

function labelsOf(spec: ts.ObjectLiteralExpression): string[] {
  const labels = spec.properties.find((property) => property.name?.getText() === 'labelNames');
  if (!labels) return [];
  return [...labels.getText().matchAll(/'([^']+)'/g)].map(([, name]) => name!);
}

export function metricTable(): string {
  const rows = metrics().map(
    ({ name, type, labels, help, room }): Row => ({
      key: `\`${name}\``,
      cells: [type, labels.map((label) => `\`${label}\``).join(', ') || '–', help, room],
    }),
  );
  return renderTable(['metric', 'type', 'labels', 'meaning', 'from'], rows.sort(byKey), '');
}
