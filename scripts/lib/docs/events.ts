import ts from 'typescript';
import {
  commentOf,
  constantNameOf,
  findAll,
  findCalls,
  moduleOf,
  propertyOf,
  type Source,
  textOf,
  whereOf,
} from './source.ts';
import { byKey, type Row, renderTable } from './table.ts';

export interface EventKindText {
  readonly id: string;
  /** With `…` for what depends on the payload. */
  readonly name: string;
  readonly constant: string;
  /** Possible values, in the order in which the source names them. */
  readonly methods: readonly string[];
  readonly transactionTypes: readonly string[];
  readonly directions: readonly string[];
  readonly blocking: 'yes' | 'no' | 'yes or no';
  /** Modules that produce such events. */
  readonly producers: readonly string[];
  readonly comment: string;
}

/** Arguments of all `defineEvent` calls in the source. */
export function eventKinds(): EventKindText[] {
  const producers = producersByConstant();
  return findCalls('defineEvent').map((call) => {
    const { source, node } = call;
    const [spec] = node.arguments;
    if (!spec || !ts.isObjectLiteralExpression(spec))
      throw new Error(`${whereOf(call)}: defineEvent needs a literal`);
    const get = (name: string) => propertyOf(spec, name);
    const id = textOf(get('id'), source);
    const constant = constantNameOf(node);
    if (id === undefined || constant === undefined)
      throw new Error(`${whereOf(call)}: a kind needs a literal id and a constant`);
    const methods = members(get('method'), 'EventMethod', source);
    const isUpdate = methods.includes('Update');
    const only = (name: string, object: string, byDefault: string): string[] => {
      if (!isUpdate) return [];
      const found = members(get(name), object, source);
      return found.length > 0 ? found : [byDefault];
    };
    return {
      id,
      constant,
      name: textOf(get('name'), source, '…') ?? '…',
      methods,
      transactionTypes: only('transactionType', 'TransactionType', 'BestEffort'),
      directions: only('direction', 'Direction', 'Forward'),
      blocking: blockingOf(get('blocking')),
      producers: producers.get(constant) ?? [],
      comment: commentOf(node),
    };
  });
}

function blockingOf(expression: ts.Expression | undefined): EventKindText['blocking'] {
  if (expression?.kind === ts.SyntaxKind.TrueKeyword) return 'yes';
  return expression?.kind === ts.SyntaxKind.FalseKeyword ? 'no' : 'yes or no';
}

/** `EventMethod.Update` and the like inside an expression, each once. */
function members(
  expression: ts.Expression | undefined,
  object: string,
  { tree }: Source,
): string[] {
  if (!expression) return [];
  const found = expression.getText(tree).matchAll(new RegExp(`\\b${object}\\.([A-Z]\\w+)`, 'g'));
  return [...new Set([...found].map(([, name]) => name!))];
}

function producersByConstant(): Map<string, string[]> {
  const modules = new Map<string, Set<string>>();
  const calls = findAll(
    (node): node is ts.CallExpression =>
      ts.isCallExpression(node) &&
      ts.isPropertyAccessExpression(node.expression) &&
      node.expression.name.text === 'event',
  );
  for (const { source, node } of calls) {
    const kind = (node.expression as ts.PropertyAccessExpression).expression.getText(source.tree);
    modules.set(kind, (modules.get(kind) ?? new Set()).add(moduleOf(source.path)));
  }
  return new Map([...modules].map(([kind, names]) => [kind, [...names].sort()]));
}

export function eventTable(old: string): string {
  const rows = eventKinds().map((kind): Row => {
    const or = (values: readonly string[]): string => values.join(' or ') || '–';
    return {
      key: `\`${kind.id}\``,
      cells: [
        kind.name,
        { suggestion: kind.comment },
        or(kind.methods),
        or(kind.transactionTypes),
        or(kind.directions),
        kind.blocking,
        kind.producers.join(', ') || '–',
      ],
    };
  });
  const columns = ['id', 'name', 'what happened', 'method', 'transaction', 'direction', 'blocking'];
  return renderTable([...columns, 'produced by'], rows.sort(byKey), old);
}
