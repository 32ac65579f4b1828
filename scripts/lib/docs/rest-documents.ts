/** The documents of REST routes: where their schemas are, and their fields. */
import ts from 'typescript';
import { type Found, findAll, propertyOf, type Source, textOf, whereOf } from './source.ts';
import { byKey, type Row, renderTable } from './table.ts';

interface SchemaNode {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
}

/** @returns renders the table */
export async function documentTable(): Promise<() => string> {
  const found = findAll(isRouteWithDocument).flatMap((route) => rowOf(route));
  const rows = await Promise.all(found);
  return () =>
    renderTable(
      ['route', 'schema', 'document'],
      rows.filter((row) => row !== undefined).sort(byKey),
      '',
    );
}

function isRouteWithDocument(node: ts.Node): node is ts.ObjectLiteralExpression {
  return (
    ts.isObjectLiteralExpression(node) &&
    ['method', 'path', 'reply'].every((field) => propertyOf(node, field) !== undefined)
  );
}

/** @returns undefined: the schema is in the route itself */
async function rowOf(route: Found<ts.ObjectLiteralExpression>): Promise<Row | undefined> {
  const { source, node } = route;
  const [method, path] = ['method', 'path'].map((field) => textOf(propertyOf(node, field), source));
  if (method === undefined || path === undefined) throw new Error(`${whereOf(route)}: no literal`);
  const reply = propertyOf(node, 'reply');
  const imported = reply && ts.isIdentifier(reply) ? importOf(source, reply.text) : undefined;
  if (!imported?.module.startsWith('#documents/')) return undefined;
  const schemas = (await import(imported.module)) as Readonly<Record<string, SchemaNode>>;
  const file = imported.module.replace('#documents/', '../src/documents/');
  return {
    key: `\`${method} ${path}\``,
    cells: [`[${imported.name}](${file})`, `\`${shapeOf(schemas[imported.name] ?? {})}\``],
  };
}

/** The module and the name there of an imported name. */
function importOf(
  { tree }: Source,
  local: string,
): { readonly module: string; readonly name: string } | undefined {
  for (const statement of tree.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier))
      continue;
    const bindings = statement.importClause?.namedBindings;
    if (!bindings || !ts.isNamedImports(bindings)) continue;
    const one = bindings.elements.find(({ name }) => name.text === local);
    if (one)
      return { module: statement.moduleSpecifier.text, name: (one.propertyName ?? one.name).text };
  }
  return undefined;
}

/** Names of the fields, with a question mark for those that may be missing. */
function shapeOf({ type, properties, required = [], items, anyOf }: SchemaNode): string {
  if (anyOf) return anyOf.map(shapeOf).join(' or ');
  if (items) return `[${shapeOf(items)}, …]`;
  if (!properties) return type ?? 'any';
  const names = Object.keys(properties).map((name) =>
    required.includes(name) ? name : `${name}?`,
  );
  return `{${names.join(', ')}}`;
}
