/** Schemas of the configuration files, and what they look like as files and as tables. */
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TObject, TSchema } from 'typebox';
import ts from 'typescript';
import { originalKeys } from '#infra/config/original-keys.ts';
import { commentOf, constantNameOf, findAll, headOf } from './source.ts';
import { renderTable } from './table.ts';

export interface ConfigDocument {
  /** `http.conf`. */
  readonly fileName: string;
  readonly schema: TObject;
}

/** The parts of JSON schema that the project's schemas use. */
interface Node {
  readonly type?: string;
  readonly const?: unknown;
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
}

/**
 * Exported constants `…Schema` that are an object schema; the comment before the constant, or the
 * first one of the file, names the files it is for in backticks.
 */
export async function configDocuments(): Promise<ConfigDocument[]> {
  const documents: ConfigDocument[] = [];
  const calls = findAll(
    (node): node is ts.CallExpression =>
      ts.isCallExpression(node) && node.expression.getText() === 'Type.Object',
  );
  for (const { source, node } of calls) {
    const name = constantNameOf(node);
    if (!name?.endsWith('Schema')) continue;
    const names = fileNames(commentOf(node)) ?? fileNames(headOf(source));
    if (!names) continue;
    const module = await import(pathToFileURL(resolve(source.path)).href);
    const schema = module[name] as TObject | undefined;
    if (schema === undefined) throw new Error(`${source.path}: ${name} is not exported`);
    for (const fileName of names) documents.push({ fileName, schema });
  }
  return documents.sort((a, b) => (a.fileName < b.fileName ? -1 : 1));
}

function fileNames(comment: string): string[] | undefined {
  const names = [...comment.matchAll(/`([a-z0-9-]+\.conf)`/g)].map(([, name]) => name!);
  return names.length > 0 ? [...new Set(names)] : undefined;
}

function isDuration({ anyOf }: Node): boolean {
  return anyOf?.[0]?.type === 'integer' && anyOf[1]?.type === 'string';
}

const units = [
  ['h', 3_600_000_000_000],
  ['m', 60_000_000_000],
  ['s', 1_000_000_000],
  ['ms', 1_000_000],
  ['us', 1000],
  ['ns', 1],
] as const;

/** Whole units only: 90 s is `90s`. */
function durationText(nanoseconds: number): string {
  const [name, size] = units.find(([, size]) => nanoseconds % size === 0)!;
  return nanoseconds === 0 ? '0s' : `${nanoseconds / size}${name}`;
}

/** A default as it is written in YAML. */
function defaultText(node: Node): string {
  if (isDuration(node)) return durationText(node.default as number);
  if (node.default === undefined) return '…';
  return JSON.stringify(node.default);
}

function typeText(node: Node): string {
  if (isDuration(node)) return 'duration';
  if (node.anyOf) return node.anyOf.map(typeText).join(', ');
  if (node.const !== undefined) return String(node.const);
  if (node.type === 'array') return `list of ${node.items?.properties ? 'entries' : 'texts'}`;
  if (node.type === 'integer') {
    const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = node;
    if (Number.isFinite(maximum)) return `${minimum} – ${maximum}`;
    return Number.isFinite(minimum) ? `number from ${minimum}` : 'number';
  }
  return node.type === 'string' ? 'text' : (node.type ?? '');
}

interface Key {
  /** `ipamConfig.podSubnetCIDR`, `nodeConfig[].gateway`. */
  readonly path: string;
  readonly node: Node;
}

/** All keys of a schema in its order; those of lists behind `[]`. */
export function keysOfSchema(schema: TSchema, prefix = ''): Key[] {
  return Object.entries((schema as Node).properties ?? {}).flatMap(([name, node]) => {
    const path = prefix + name;
    if (node.properties) return keysOfSchema(node, `${path}.`);
    const inner = node.items?.properties ? keysOfSchema(node.items, `${path}[].`) : [];
    return [{ path, node }, ...inner];
  });
}

export function originalKeyTable(): string {
  const rows = Object.entries(originalKeys).flatMap(([file, keys]) =>
    Object.entries(keys).map(([key, { reason }]) => ({
      key: `\`${file}\`: \`${key}\``,
      cells: [reason],
    })),
  );
  return renderTable(['key', 'why, and what to use instead'], rows, '');
}

export function configTables(documents: readonly ConfigDocument[]): string {
  return documents
    .map(({ fileName, schema }) => {
      const rows = keysOfSchema(schema).map(({ path, node }) => ({
        key: `\`${path}\``,
        cells: [typeText(node), `\`${defaultText(node)}\``, node.description ?? ''],
      }));
      const columns = ['key', 'value', 'default', 'meaning'];
      return `### ${fileName}\n\n${renderTable(columns, rows, '')}`;
    })
    .join('\n\n');
}

/**
 * The file with every key at its default, each commented out, so that a later release may change
 * a default: with one `#` removed from every line the file is valid YAML.
 */
export function configFileText({ fileName, schema }: ConfigDocument): string {
  const head = [
    `## ${fileName}: every key with its default. To change one, remove the # before it`,
    '## (and before its parent keys).',
  ];
  return `${[...head, ...keyLines(schema as Node, '')].join('\n')}\n`;
}

function keyLines(schema: Node, indent: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, node]) => {
    const blank = indent === '' ? [''] : [];
    const about = node.description === undefined ? [] : [`##${indent} ${node.description}`];
    if (node.properties)
      return [...blank, ...about, `#${indent}${name}:`, ...keyLines(node, `${indent}  `)];
    const entry = node.items?.properties
      ? [
          '## An entry with all its keys:',
          ...listLines(node.items, '').map((line) => `##   ${line}`),
        ]
      : [];
    return [...blank, ...about, ...entry, `#${indent}${name}: ${defaultText(node)}`];
  });
}

/** One entry of a list, as YAML with a comment behind each key. */
function listLines(items: Node, indent: string): string[] {
  const [first = '', ...rest] = entryLines(items, `${indent}  `);
  return [`${indent}- ${first.trimStart()}`, ...rest];
}

function entryLines(schema: Node, indent: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, node]) => {
    const about = node.description === undefined ? '' : `  # ${node.description}`;
    if (node.properties) return [`${indent}${name}:${about}`, ...entryLines(node, `${indent}  `)];
    if (node.items?.properties)
      return [`${indent}${name}:${about}`, ...listLines(node.items, `${indent}  `)];
    return [`${indent}${name}: ${defaultText(node)}${about}`];
  });
}

/** Path of the configuration file of a schema. */
export function configPath({ fileName }: ConfigDocument): string {
  return join('config', fileName);
}
