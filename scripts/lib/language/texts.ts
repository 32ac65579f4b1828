/** Everything that a person reads in a file: names, comments, texts of the code, documentation. */
import { readFileSync } from 'node:fs';
import ts from 'typescript';

export interface Fragment {
  readonly kind: 'name' | 'text' | 'log';
  readonly text: string;
  /** 1 for the first line of the file. */
  readonly line: number;
}

export interface SourceText {
  readonly path: string;
  readonly fragments: readonly Fragment[];
  /** For rules about syntax; absent for documentation. */
  readonly tree?: ts.SourceFile;
}

const LOG_METHOD = /^(trace|debug|info|warn|error|fatal)$/;

export function readSourceText(root: string, path: string): SourceText {
  const text = readFileSync(`${root}/${path}`, 'utf8');
  return path.endsWith('.ts')
    ? typescriptText(path, text)
    : { path, fragments: plainText(path, text) };
}

function typescriptText(path: string, text: string): SourceText {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const fragments: Fragment[] = [];
  const lineOf = (position: number): number =>
    tree.getLineAndCharacterOfPosition(position).line + 1;
  const seenComments = new Set<number>();
  const addComments = (node: ts.Node): void => {
    for (const range of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [])
      addComment(range);
    for (const range of ts.getTrailingCommentRanges(text, node.getEnd()) ?? []) addComment(range);
  };
  const addComment = ({ pos, end }: ts.CommentRange): void => {
    if (seenComments.has(pos)) return;
    seenComments.add(pos);
    // A phrase may go over the end of a line.
    const comment = text.slice(pos, end).replace(/\n\s*(\*|\/\/)? ?/g, ' ');
    fragments.push({ kind: 'text', text: withoutCode(comment), line: lineOf(pos) });
  };
  const visit = (node: ts.Node): void => {
    addComments(node);
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      ts.forEachChild(node, (child) => {
        if (!ts.isStringLiteral(child)) visit(child);
      });
      return;
    }
    if (isDeclaredName(node))
      fragments.push({ kind: 'name', text: node.text, line: lineOf(node.getStart()) });
    else if (ts.isStringLiteralLike(node) || isTemplatePart(node)) {
      // Keys, paths and codes are data; a text has words.
      if (/[a-z] [a-z]/i.test(node.text))
        fragments.push({
          kind: 'text',
          text: withoutCode(node.text),
          line: lineOf(node.getStart()),
        });
    }
    if (ts.isCallExpression(node)) addLogMessage(node);
    ts.forEachChild(node, visit);
  };
  const addLogMessage = (call: ts.CallExpression): void => {
    if (!ts.isPropertyAccessExpression(call.expression)) return;
    if (!LOG_METHOD.test(call.expression.name.text)) return;
    if (!/log(ger)?$/i.test(call.expression.expression.getText(tree))) return;
    const message = call.arguments.at(-1);
    if (!message) return;
    const head = ts.isStringLiteralLike(message)
      ? message.text
      : ts.isTemplateExpression(message)
        ? message.head.text
        : '';
    if (head !== '') fragments.push({ kind: 'log', text: head, line: lineOf(message.getStart()) });
  };
  visit(tree);
  return { path, fragments, tree };
}

function isTemplatePart(
  node: ts.Node,
): node is ts.TemplateHead | ts.TemplateMiddle | ts.TemplateTail {
  return ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node);
}

/** A name where it is declared: one report a name is enough. Names of wire fields are quoted or types'. */
function isDeclaredName(node: ts.Node): node is ts.Identifier | ts.PrivateIdentifier {
  if (!ts.isIdentifier(node) && !ts.isPrivateIdentifier(node)) return false;
  const { parent } = node;
  if (!('name' in parent) || parent.name !== node) return false;
  return (
    ts.isVariableDeclaration(parent) ||
    ts.isFunctionDeclaration(parent) ||
    ts.isClassDeclaration(parent) ||
    ts.isInterfaceDeclaration(parent) ||
    ts.isTypeAliasDeclaration(parent) ||
    ts.isParameter(parent) ||
    ts.isMethodDeclaration(parent) ||
    ts.isMethodSignature(parent) ||
    ts.isPropertyDeclaration(parent) ||
    ts.isPropertySignature(parent) ||
    ts.isGetAccessorDeclaration(parent) ||
    ts.isTypeParameterDeclaration(parent) ||
    ts.isBindingElement(parent)
  );
}

/** Documentation by paragraphs, configuration files by comments. */
function plainText(path: string, text: string): Fragment[] {
  const fragments: Fragment[] = [];
  let isCode = false;
  let paragraph = '';
  let start = 1;
  const flush = (next: number): void => {
    if (paragraph !== '')
      fragments.push({ kind: 'text', text: withoutCode(paragraph), line: start });
    paragraph = '';
    start = next;
  };
  text.split('\n').forEach((line, index) => {
    const isMarkdown = path.endsWith('.md');
    if (isMarkdown && line.trimStart().startsWith('```')) {
      isCode = !isCode;
      flush(index + 2);
      return;
    }
    if (isCode) return;
    const prose = isMarkdown ? line : (/(?:^|\s)#+ (.*)/.exec(line)?.[1] ?? '');
    if (prose.trim() === '' || (isMarkdown && line.startsWith('|'))) {
      flush(index + 1);
      paragraph = prose.trim();
      if (paragraph !== '') flush(index + 2);
    } else {
      if (paragraph === '') start = index + 1;
      paragraph += `${paragraph === '' ? '' : ' '}${prose.trim()}`;
    }
  });
  flush(0);
  return fragments;
}

/** What stands in backticks is a name of the code, the wire or a command. */
function withoutCode(text: string): string {
  return text.replace(/`[^`]*`/g, '`…`');
}
