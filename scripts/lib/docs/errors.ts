import ts from 'typescript';
import {
  commentOf,
  type Found,
  findAll,
  findCalls,
  propertyOf,
  textOf,
  whereOf,
} from './source.ts';
import { byKey, type Row, renderTable } from './table.ts';

export interface ErrorClass {
  readonly code: string;
  readonly name: string;
  readonly remedy: string;
  readonly comment: string;
  /** HTTP status of a reply that fails with it; empty: 500. */
  readonly status: string;
  readonly where: string;
}

/** Error classes made by `defineError`, and those that extend CodedError themselves. */
export function errorClasses(): ErrorClass[] {
  const defined = findCalls('defineError').map((call) => {
    const [spec] = call.node.arguments;
    const get = (name: string) =>
      spec && ts.isObjectLiteralExpression(spec) ? propertyOf(spec, name) : undefined;
    return errorClass(call, get);
  });
  const extended = findAll(isErrorClass).map((found) =>
    errorClass(found, (name) => memberOf(found.node, name)),
  );
  return [...defined, ...extended];
}

function errorClass(
  found: Found<ts.Node>,
  get: (name: string) => ts.Expression | undefined,
): ErrorClass {
  const value = (name: string): string => {
    const text = textOf(get(name), found.source);
    if (text === undefined) throw new Error(`${whereOf(found)}: ${name} has to be a literal`);
    return text;
  };
  return {
    code: value('code'),
    name: value('name'),
    remedy: value('remedy'),
    comment: commentOf(found.node),
    status: get('status')?.getText(found.source.tree) ?? '',
    where: whereOf(found),
  };
}

/** A class with a code of its own; not the one that `defineError` makes. */
function isErrorClass(node: ts.Node): node is ts.ClassDeclaration {
  if (!ts.isClassDeclaration(node)) return false;
  const code = memberOf(node, 'code');
  return code !== undefined && ts.isStringLiteral(code) && code.text.startsWith('CV_');
}

function memberOf(node: ts.ClassDeclaration, name: string): ts.Expression | undefined {
  for (const member of node.members)
    if (ts.isPropertyDeclaration(member) && member.name.getText() === name)
      return member.initializer;
  return undefined;
}

export function errorTable(old: string): string {
  const rows = errorClasses().map(
    ({ code, name, remedy, comment }): Row => ({
      key: `\`${code}\``,
      cells: [name, { suggestion: comment }, remedy],
    }),
  );
  return renderTable(['code', 'class', 'what happened', 'what to do'], rows.sort(byKey), old);
}

/** Errors with an HTTP status of their own. */
export function statusTable(): string {
  const rows = errorClasses()
    .filter(({ status }) => status !== '')
    .map(({ code, status, remedy }): Row => ({ key: `\`${code}\``, cells: [status, remedy] }));
  const byStatus = (a: Row, b: Row): number =>
    a.cells[0] === b.cells[0] ? byKey(a, b) : Number(a.cells[0]) - Number(b.cells[0]);
  return renderTable(['error', 'status', 'what to do'], rows.sort(byStatus), '');
}
