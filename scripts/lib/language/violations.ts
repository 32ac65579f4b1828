/** Finds uses of words that the rules replace. */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import ts from 'typescript';
import { exceptions, nodeGlobals, vagueFileNames, type WordRule, wordRules } from './rules.ts';
import { type Fragment, readSourceText, type SourceText } from './texts.ts';

export interface Violation {
  readonly path: string;
  readonly line: number;
  /** The words as they stand there. */
  readonly found: string;
  readonly say: string;
  /** What the violations are counted by. */
  readonly rule: string;
}

/** Files that contain the words as data. */
const OWN_FILES = /^scripts\/lib\/language\/|^test\/scripts\/language\.test\.ts$/;

const TITLE_CASE = /^[A-Z][a-z]+\b/;

/** @param paths relative to the root */
export function findViolations(root: string, paths: readonly string[]): Violation[] {
  return paths
    .filter((path) => existsSync(`${root}/${path}`) && !OWN_FILES.test(path))
    .flatMap((path) => {
      const source = readSourceText(root, path);
      return [
        ...fileNameViolations(path),
        ...source.fragments.flatMap((fragment) => fragmentViolations(path, fragment)),
        ...syntaxViolations(source),
      ];
    })
    .filter(
      ({ path, found }) =>
        !exceptions.some(({ file, text }) => file.test(path) && text.test(found)),
    );
}

function fileNameViolations(path: string): Violation[] {
  const stem = basename(path).split('.')[0]!;
  const at = { path, line: 1, found: basename(path) };
  const violations = wordsOf(stem).flatMap((word) => wordViolations(path, 1, word, 'name'));
  if (vagueFileNames.has(stem))
    violations.push({
      ...at,
      say: 'a noun that gives the role of the file',
      rule: 'vague file name',
    });
  return violations;
}

function fragmentViolations(path: string, fragment: Fragment): Violation[] {
  const { kind, text, line } = fragment;
  if (kind === 'name') {
    if (/^Err[A-Z]/.test(text))
      return [{ path, line, found: text, say: `${text.slice(3)}Error`, rule: 'error class name' }];
    return wordsOf(text).flatMap((word) => wordViolations(path, line, word, 'name'));
  }
  if (kind === 'log')
    return TITLE_CASE.test(text)
      ? [{ path, line, found: text, say: 'lower case first', rule: 'log message in upper case' }]
      : [];
  return wordViolations(path, line, text, 'text');
}

function wordViolations(
  path: string,
  line: number,
  text: string,
  scope: 'name' | 'text',
): Violation[] {
  const applies = (rule: WordRule): boolean => rule.scope === 'both' || rule.scope === scope;
  return wordRules.filter(applies).flatMap(({ label, pattern, say }) =>
    [...text.matchAll(pattern)].map(([found]) => ({
      path,
      line,
      found,
      say,
      rule: `${label} (${scope})`,
    })),
  );
}

/** `ownedByHost`, `OWNED_BY_HOST` and `owned-by-host` have the words owned, by and host. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '');
}

function syntaxViolations({ path, tree }: SourceText): Violation[] {
  if (!tree) return [];
  const literals = new Set<string>();
  return tree.statements.flatMap((statement): Violation[] => {
    const line = tree.getLineAndCharacterOfPosition(statement.getStart()).line + 1;
    if (ts.isFunctionDeclaration(statement) && statement.name)
      return shadowed(path, line, statement.name.text);
    if (!ts.isVariableStatement(statement)) return [];
    return statement.declarationList.declarations.flatMap((declaration) => {
      if (!ts.isIdentifier(declaration.name)) return [];
      const name = declaration.name.text;
      const isConst = (statement.declarationList.flags & ts.NodeFlags.Const) !== 0;
      const isFixed = isConst && isLiteral(declaration.initializer, literals);
      if (isFixed) literals.add(name);
      return [...shadowed(path, line, name), ...constantCase(path, line, name, isFixed)];
    });
  });
}

function shadowed(path: string, line: number, name: string): Violation[] {
  if (!nodeGlobals.has(name)) return [];
  return [
    { path, line, found: name, say: 'another name: Node.js has this one', rule: 'shadowed global' },
  ];
}

/** A constant whose value is written down is UPPER_CASE, all else is camelCase or PascalCase. */
function constantCase(path: string, line: number, name: string, isFixed: boolean): Violation[] {
  const rule = 'case of a constant';
  if (isFixed && /[a-z]/.test(name)) return [{ path, line, found: name, say: 'UPPER_CASE', rule }];
  if (!isFixed && /^[A-Z][A-Z0-9]*_/.test(name))
    return [{ path, line, found: name, say: 'camelCase', rule }];
  return [];
}

function isLiteral(value: ts.Expression | undefined, known: ReadonlySet<string>): boolean {
  if (!value) return false;
  const isFixed = (each: ts.Expression): boolean => isLiteral(each, known);
  if (ts.isStringLiteralLike(value) || ts.isNumericLiteral(value) || ts.isBigIntLiteral(value))
    return true;
  if (ts.isRegularExpressionLiteral(value)) return true;
  if (ts.isIdentifier(value)) return known.has(value.text);
  if (ts.isPrefixUnaryExpression(value)) return isFixed(value.operand);
  if (ts.isParenthesizedExpression(value) || ts.isAsExpression(value))
    return isFixed(value.expression);
  if (ts.isBinaryExpression(value)) return isFixed(value.left) && isFixed(value.right);
  if (ts.isTemplateExpression(value))
    return value.templateSpans.every((span) => isFixed(span.expression));
  return false;
}
