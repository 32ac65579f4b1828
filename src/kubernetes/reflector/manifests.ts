/**
 * Reads the objects of a manifest file. A file contains several documents; a problem in one of them
 * is reported with its line, and the others are still read.
 */
import { type Document, isNode, isScalar, LineCounter, parseAllDocuments } from 'yaml';
import type { ManifestProblem, SourceLocation } from './manifest-problem.ts';

export interface ManifestObject {
  readonly source: SourceLocation;
  /** Of unknown shape. */
  readonly object: unknown;
}

export interface Manifests {
  readonly objects: readonly ManifestObject[];
  readonly problems: readonly ManifestProblem[];
}

/** @param file name of the file for problems */
export function readManifests(text: string, file: string): Manifests {
  const objects: ManifestObject[] = [];
  const problems: ManifestProblem[] = [];
  let document = 0;
  for (const piece of chunksOf(text)) {
    const lines = new LineCounter();
    const lineOf = (offset: number): number => lines.linePos(offset).line + piece.line;
    for (const parsed of documentsOf(piece.text, lines)) {
      if (isEmpty(parsed)) continue;
      document++;
      const source = { file, document, line: lineOf(startOf(parsed)) };
      const fault = syntaxProblem(parsed, source, lines, piece.line);
      if (fault !== undefined) {
        problems.push(fault);
        continue;
      }
      try {
        expandLists(parsed.toJS(), [], (object, path) => {
          const node = path.length === 0 ? undefined : parsed.getIn(path, true);
          const line = isNode(node) && node.range ? lineOf(node.range[0]) : source.line;
          objects.push({ source: { ...source, line }, object });
        });
      } catch (thrown) {
        // too many expanded aliases, or too deep nesting
        const reason = thrown instanceof Error ? thrown.message : String(thrown);
        problems.push({ ...source, kind: '', name: '', reason });
      }
    }
  }
  return { objects, problems };
}

interface Chunk {
  readonly text: string;
  /** Number of lines before it. */
  readonly line: number;
}

/**
 * Splits at lines that begin with `---`, which cannot occur inside a document. Each chunk is parsed
 * separately, so that an unterminated quote affects one document and not the rest of the file.
 */
function chunksOf(text: string): Chunk[] {
  const pieces: Chunk[] = [];
  let begin = 0;
  let line = 0;
  const cut = (end: number): void => {
    const piece = text.slice(begin, end);
    // directives belong to the document that follows
    if (/^%/m.test(piece) && /^\s*(?:[%#].*\s*)*$/.test(piece)) return;
    pieces.push({ text: piece, line });
    line += piece.split('\n').length - 1;
    begin = end;
  };
  for (const { index } of text.matchAll(/^---(?=\s|$)/gm)) if (index > 0) cut(index);
  cut(text.length);
  return pieces;
}

function documentsOf(text: string, lineCounter: LineCounter): Document[] {
  const documents = parseAllDocuments(text, { lineCounter, merge: true, prettyErrors: false });
  return Array.isArray(documents) ? documents : [];
}

function isEmpty({ contents, errors }: Document): boolean {
  const nothing = contents === null || (isScalar(contents) && contents.value === null);
  return nothing && errors.length === 0;
}

function startOf(document: Document): number {
  return isNode(document.contents) ? (document.contents.range?.[0] ?? 0) : 0;
}

function syntaxProblem(
  document: Document,
  source: SourceLocation,
  lines: LineCounter,
  linesBefore: number,
): ManifestProblem | undefined {
  const error = document.errors[0];
  if (error === undefined) return undefined;
  const { line, col } = lines.linePos(error.pos[0]);
  return {
    ...source,
    line: line + linesBefore,
    column: col,
    kind: '',
    name: '',
    reason: `not valid YAML: ${error.message}`,
  };
}

type Visit = (object: unknown, path: readonly (string | number)[]) => void;

/** Replaces lists, including lists of one kind such as PodList, by their items. */
function expandLists(object: unknown, path: readonly (string | number)[], take: Visit): void {
  const list = listOf(object);
  if (list === undefined) {
    take(object, path);
    return;
  }
  for (const [position, item] of list.items.entries()) {
    expandLists(list.named(item), [...path, 'items', position], take);
  }
}

interface List {
  readonly items: readonly unknown[];
  /** Adds apiVersion and kind to an item of a list of one kind, where they are optional. */
  named(item: unknown): unknown;
}

function listOf(object: unknown): List | undefined {
  if (typeof object !== 'object' || object === null) return undefined;
  const { apiVersion, kind, items } = object as Readonly<Record<string, unknown>>;
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return undefined;
  return {
    items,
    named: (item) => {
      if (kind === 'List' || typeof item !== 'object' || item === null) return item;
      return { apiVersion, kind: kind.slice(0, -'List'.length), ...item };
    },
  };
}
