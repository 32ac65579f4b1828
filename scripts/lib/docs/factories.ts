/**
 * Object literals with certain fields, where a function that makes such an object from its
 * parameters is seen through: there is one result for each call of that function.
 */
import ts from 'typescript';
import { type Found, findAll, findCalls, propertyOf, type Source, whereOf } from './source.ts';

export interface Expanded {
  readonly source: Source;
  /** `file:line` of the literal, or of the call that it is made for. */
  readonly where: string;
  /** By field, with the file that contains the expression. */
  readonly values: ReadonlyMap<string, { readonly expression: ts.Expression; source: Source }>;
}

type FunctionLike = ts.FunctionDeclaration | ts.ArrowFunction | ts.FunctionExpression;

export function expand(fields: readonly string[]): Expanded[] {
  const literals = findAll(
    (node): node is ts.ObjectLiteralExpression =>
      ts.isObjectLiteralExpression(node) &&
      fields.every((field) => propertyOf(node, field) !== undefined),
  );
  return literals.flatMap((literal) => expandOne(literal, fields));
}

function expandOne(
  literal: Found<ts.ObjectLiteralExpression>,
  fields: readonly string[],
): Expanded[] {
  const { source, node } = literal;
  const own = new Map(
    fields.map((field) => [field, { expression: propertyOf(node, field)!, source }] as const),
  );
  const maker = ts.findAncestor(node, isFunction);
  const parameters = maker?.parameters.map((parameter) => parameter.name.getText()) ?? [];
  const indexes = new Map(
    [...own].map(([field, { expression }]) => [field, parameters.indexOf(expression.getText())]),
  );
  const name = maker && nameOf(maker);
  if (!name || [...indexes.values()].every((index) => index < 0))
    return [{ source, where: whereOf(literal), values: own }];
  return findCalls(name).map((call) => ({
    source: call.source,
    where: whereOf(call),
    values: new Map(
      [...own].map(([field, value]) => {
        const argument = call.node.arguments[indexes.get(field) ?? -1];
        return [field, argument ? { expression: argument, source: call.source } : value] as const;
      }),
    ),
  }));
}

function isFunction(node: ts.Node): node is FunctionLike {
  return (
    ts.isFunctionDeclaration(node) || ts.isArrowFunction(node) || ts.isFunctionExpression(node)
  );
}

function nameOf(maker: FunctionLike): string | undefined {
  if (maker.name) return maker.name.text;
  const { parent } = maker;
  if (ts.isVariableDeclaration(parent) && ts.isIdentifier(parent.name)) return parent.name.text;
  return undefined;
}
