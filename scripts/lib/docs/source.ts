/** The project's source as syntax trees, and what the documentation reads out of them. */
import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';

export interface Source {
  readonly path: string;
  readonly tree: ts.SourceFile;
}

let all: Source[] | undefined;

/** Everything of src and plugins that is written by hand. */
export function sources(): readonly Source[] {
  all ??= globSync(['src/**/*.ts', 'plugins/**/*.ts'])
    .filter((path) => !path.endsWith('.gen.ts'))
    .sort()
    .map((path) => ({
      path,
      tree: ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true),
    }));
  return all;
}

/** `plugins/ipam/subnets.ts` is in `ipam`, `src/vpp/…` in `vpp`, `src/cmd/agent/…` in `agent`. */
export function moduleOf(path: string): string {
  const [, folder = '', program = ''] = path.split('/');
  if (path.startsWith('src/cmd/')) return program;
  return folder;
}

export interface Found<N extends ts.Node> {
  readonly source: Source;
  readonly node: N;
}

/** All nodes of the source that `is` accepts. */
export function findAll<N extends ts.Node>(is: (node: ts.Node) => node is N): Found<N>[] {
  return sources().flatMap((source) => {
    const found: Found<N>[] = [];
    const visit = (node: ts.Node): void => {
      if (is(node)) found.push({ source, node });
      ts.forEachChild(node, visit);
    };
    visit(source.tree);
    return found;
  });
}

/** Calls of a function by its plain name. */
export function findCalls(name: string): Found<ts.CallExpression>[] {
  return findAll(
    (node): node is ts.CallExpression =>
      ts.isCallExpression(node) &&
      ts.isIdentifier(node.expression) &&
      node.expression.text === name,
  );
}

/** Position of a node: `file:line`. */
export function whereOf({ source, node }: Found<ts.Node>): string {
  return `${source.path}:${source.tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}

/** Value of a property; of a short-hand one, the name itself. */
export function propertyOf(
  object: ts.ObjectLiteralExpression,
  name: string,
): ts.Expression | undefined {
  for (const property of object.properties) {
    if (!property.name || property.name.getText().replace(/^'|'$/g, '') !== name) continue;
    if (ts.isPropertyAssignment(property)) return property.initializer;
    if (ts.isShorthandPropertyAssignment(property)) return property.name;
  }
  return undefined;
}

/**
 * Text that an expression always has; undefined when it depends on more than constants of its file.
 * @param hole what stands for each part of a template that is filled at run time; undefined: none
 * may be
 */
export function textOf(
  expression: ts.Expression | undefined,
  source: Source,
  hole?: string,
): string | undefined {
  if (!expression) return undefined;
  if (ts.isStringLiteralLike(expression)) return expression.text;
  if (ts.isIdentifier(expression)) return textOf(constant(source, expression.text), source, hole);
  if (ts.isArrowFunction(expression) && hole !== undefined && !ts.isBlock(expression.body))
    return textOf(expression.body, source, hole);
  if (ts.isBinaryExpression(expression)) {
    const [left, right] = [expression.left, expression.right].map((e) => textOf(e, source, hole));
    return left === undefined || right === undefined ? undefined : left + right;
  }
  if (ts.isTemplateExpression(expression)) {
    let text = expression.head.text;
    for (const span of expression.templateSpans) {
      const part = textOf(span.expression, source) ?? hole;
      if (part === undefined) return undefined;
      text += part + span.literal.text;
    }
    return text;
  }
  return undefined;
}

/** Initializer of a top-level name of a file. */
function constant({ tree }: Source, name: string): ts.Expression | undefined {
  for (const statement of tree.statements) {
    if (!ts.isVariableStatement(statement)) continue;
    for (const { name: declared, initializer } of statement.declarationList.declarations)
      if (ts.isIdentifier(declared) && declared.text === name) return initializer;
  }
  return undefined;
}

/** The last comment before a node (of what it is the value of), as one line. */
export function commentOf(node: ts.Node): string {
  const statement = ts.findAncestor(node, (it) => ts.isStatement(it) || ts.isClassElement(it));
  return statement ? commentBefore(statement) : '';
}

/** First comment of a file. */
export function headOf({ tree }: Source): string {
  const [first] = tree.statements;
  return first ? commentBefore(first, 0) : '';
}

function commentBefore(node: ts.Node, index = -1): string {
  const text = node.getSourceFile().text;
  const range = ts.getLeadingCommentRanges(text, node.getFullStart())?.at(index);
  if (!range) return '';
  return text
    .slice(range.pos, range.end)
    .replace(/^\/\*\*?|\*\/$|^\/\//g, '')
    .replace(/^\s*\* ?/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Name of the constant that a node is the value of. */
export function constantNameOf(node: ts.Node): string | undefined {
  const { parent } = node;
  if (!ts.isVariableDeclaration(parent) || !ts.isIdentifier(parent.name)) return undefined;
  return parent.name.text;
}
