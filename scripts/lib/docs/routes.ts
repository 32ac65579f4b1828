import ts from 'typescript';
import { expand } from './factories.ts';
import { findAll, moduleOf, type Source, textOf } from './source.ts';
import { byKey, keysOf, type Row, renderTable } from './table.ts';

export interface RouteText {
  readonly method: string;
  readonly path: string;
  readonly mutating: boolean;
  readonly summary: string;
  /** File that reads its arguments. */
  readonly file: string;
}

const fields = ['method', 'path', 'mutating', 'summary'] as const;

/** Its routes are `/metrics` and `/stats`, as in the agent; docs/ksr.md describes them. */
const OTHER_PROGRAM = 'src/ksr/';

/**
 * Routes of the agent: object literals that are a Route, also those that a function makes from its
 * parameters.
 */
export function routes(): RouteText[] {
  const found = expand(fields).filter(({ source }) => !source.path.startsWith(OTHER_PROGRAM));
  return found.map(({ values, source, where }) => {
    const text = (field: string): string => {
      const found = textOf(values.get(field)?.expression, values.get(field)?.source ?? source);
      if (found === undefined) throw new Error(`${where}: ${field} of a route has to be a literal`);
      return found;
    };
    return {
      method: text('method'),
      path: text('path'),
      mutating: values.get('mutating')?.expression.kind === ts.SyntaxKind.TrueKeyword,
      summary: text('summary'),
      file: source.path,
    };
  });
}

/** Names of query arguments that the routes of a file ask for. */
export function queryArguments(): Map<string, string[]> {
  const byFile = new Map<string, Set<string>>();
  const add = (source: Source, name: string | undefined): void => {
    if (name !== undefined)
      byFile.set(source.path, (byFile.get(source.path) ?? new Set()).add(name));
  };
  for (const { source, node } of findAll(ts.isCallExpression)) {
    // argument(request, 'name'), and whatever reads one in another form.
    const [request, name] = node.arguments;
    if (request?.getText(source.tree) === 'request') add(source, textOf(name, source));
  }
  for (const { source, node } of findAll(ts.isElementAccessExpression))
    if (/\bquery$/.test(node.expression.getText(source.tree)))
      add(source, textOf(node.argumentExpression, source));
  return new Map([...byFile].map(([file, names]) => [file, [...names].sort()]));
}

export function routeTable(old: string): string {
  const rows = routes().map(
    ({ method, path, mutating, summary, file }): Row => ({
      key: `\`${method} ${path}\``,
      cells: [summary, { suggestion: '–' }, mutating ? 'yes' : 'no', moduleOf(file)],
    }),
  );
  return renderTable(
    ['route', 'what it does', 'arguments', 'mutating', 'from'],
    rows.sort(byKey),
    old,
  );
}

/** Arguments in backticks that the table names for a route; keys as `keysOf` gives them. */
export function documentedArguments(table: string): Map<string, string[]> {
  const rows = table.split('\n').filter((line) => line.startsWith('| `'));
  return new Map(
    keysOf(table).map((key, index) => {
      const cell = rows[index]?.split(/(?<!\\)\|/)[3] ?? '';
      return [key, [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)];
    }),
  );
}
