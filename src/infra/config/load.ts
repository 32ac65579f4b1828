/**
 * Configuration files: YAML, found by flag, environment variable or in the configuration folder.
 * An unknown key is a warning, because the file may belong to another release. A wrong type or a
 * syntax error stops the start, because running with an unintended default is worse. All name file
 * and line.
 */
import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { Static, TObject, TSchema } from 'typebox';
import Value from 'typebox/value';
import { type Document, isMap, isSeq, LineCounter, parseDocument } from 'yaml';
import { defineError, errorText } from '../errors/errors.ts';
import { type OriginalKey, originalKeys } from './original-keys.ts';

export const ConfigError = defineError({
  name: 'ConfigError',
  code: 'CV_CONFIG_INVALID',
  rejects: 'configuration',
  remedy: 'Correct the line; config/ in the repository lists every key with its default.',
});

export interface ConfigSource {
  /** Command-line values by flag name without dashes. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder that is searched for files that are not found under the given path. */
  readonly configDir: string;
}

export interface ConfigFile<S extends TObject> {
  /** Gives flag `--<name>-config`, variable `<NAME>_CONFIG` and file `<name>.conf`. */
  readonly name: string;
  readonly schema: S;
  /** File name, when it differs from the name of the plugin. */
  readonly fileName?: string;
}

export interface LoadedConfig<S extends TObject> {
  readonly value: Static<S>;
  /** undefined: no file was found, all values are defaults. */
  readonly file: string | undefined;
  /** Paths (`a.b`) of the keys that the file sets. */
  readonly set: ReadonlySet<string>;
  /** One sentence each, with file and line. */
  readonly warnings: readonly string[];
  /** `file:line` of a key (`a.b`), or of its nearest parent in the file: for later checks. */
  where(path: string): string;
}

/** Flag name of a configuration file, without dashes. */
export function configFlag(name: string): string {
  return `${name.toLowerCase()}-config`;
}

/** Environment variable of a flag. */
export function flagVariable(flag: string): string {
  return flag.toUpperCase().replaceAll('-', '_');
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new ConfigError(`cannot be read: ${code}`, { where: path, cause });
  }
}

/**
 * The file and its text: the path as given, else inside the configuration folder. An empty flag or
 * variable counts as not set.
 * @throws ConfigError
 */
export function findConfigFile(
  config: Pick<ConfigFile<TObject>, 'name' | 'fileName'>,
  source: ConfigSource,
): { path: string; text: string } | undefined {
  const flag = configFlag(config.name);
  const wanted = source.flags[flag] || source.env[flagVariable(flag)] || undefined;
  const name = wanted ?? config.fileName ?? `${config.name}.conf`;
  const candidates = isAbsolute(name) ? [name] : [name, join(source.configDir, name)];
  if (wanted === undefined) candidates.shift();
  for (const path of candidates) {
    const text = readIfExists(path);
    if (text !== undefined) return { path, text };
  }
  if (wanted !== undefined)
    throw new ConfigError(`the file does not exist (set by --${flag} or ${flagVariable(flag)})`, {
      where: wanted,
    });
  return undefined;
}

/** @throws ConfigError for syntax errors, wrong types and missing files */
export function loadConfig<S extends TObject>(
  config: ConfigFile<S>,
  source: ConfigSource,
): LoadedConfig<S> {
  const found = findConfigFile(config, source);
  const fileName = config.fileName ?? `${config.name}.conf`;
  return parseConfig(config.schema, found?.text ?? '', found?.path, originalKeys[fileName]);
}

/**
 * Parses a text; errors name `file`.
 * @param originals keys of the original's file that are not in the schema
 */
export function parseConfig<S extends TObject>(
  schema: S,
  text: string,
  file: string | undefined,
  originals: Readonly<Record<string, OriginalKey>> = {},
): LoadedConfig<S> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const problem = document.errors[0];
  if (problem) {
    const [headline = ''] = problem.message.split(/ at line |; please use /);
    throw new ConfigError(headline, { where: `${file}:${problem.linePos?.[0].line ?? 1}` });
  }
  const lineOf = (path: readonly string[]): string => `${file}:${line(document, lines, path)}`;
  const warnings: string[] = [];
  const set = new Set<string>();
  const known = renameKeys(schema, plainValue(document, file) ?? {}, [], {
    set: (path) => set.add(path.join('.')),
    unknown: (path) => {
      const key = path.join('.');
      const name = key.toLowerCase();
      // a file may have the key `constructor`
      const original = Object.hasOwn(originals, name) ? originals[name] : undefined;
      warnings.push(
        original
          ? `${lineOf(path)}: ${key} has no effect: ${original.reason}`
          : `${lineOf(path)}: ignoring unknown key ${key}`,
      );
    },
    duplicate: (path, before) =>
      warnings.push(`${lineOf(path)}: ${path.at(-1)} overrides the same key ${before} above`),
  });
  const value: unknown = Value.Default(schema, known);
  const [error] = Value.Errors(schema, value);
  if (error) {
    const path = error.instancePath.split('/').slice(1);
    const at = path.length > 0 ? `${path.join('.')}: ` : '';
    const expected = expectedAt(schema, path);
    const reason =
      expected === undefined || error.keyword === '~refine'
        ? error.message
        : `has to be ${expected}`;
    throw new ConfigError(`${at}${reason}`, { where: lineOf(path) });
  }
  const where = (path: string): string => lineOf(path.split('.'));
  return { value: value as Static<S>, file, set, warnings, where };
}

/** @throws ConfigError for YAML aliases that are unresolved, recursive or too large */
function plainValue(document: Document, file: string | undefined): unknown {
  try {
    const value: unknown = document.toJS();
    // throws for a recursive value
    JSON.stringify(value);
    return value;
  } catch (cause) {
    throw new ConfigError(`invalid alias: ${errorText(cause).split('\n')[0]}`, {
      where: `${file}:1`,
      cause,
    });
  }
}

interface SchemaNode {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  /** Description of a valid value. */
  readonly expected?: string;
  /** Of a union; a literal has a `const`. */
  readonly anyOf?: readonly { readonly const?: unknown }[];
}

/** @returns undefined: the message of the schema is clear enough */
function expectedAt(schema: TSchema, path: readonly string[]): string | undefined {
  let node: SchemaNode | undefined = schema as SchemaNode;
  for (const part of path) node = (node?.properties?.[part] ?? node?.items) as SchemaNode;
  if (node?.expected !== undefined) return node.expected;
  const names = node?.anyOf?.map((option) => option.const);
  if (!names?.every((name) => name !== undefined)) return undefined;
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

/** Line of a key, or of its nearest parent in the file. */
function line(document: Document, lines: LineCounter, path: readonly string[]): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const part of path) {
    if (isMap(node)) {
      const wanted = part.toLowerCase();
      // the last of several spellings takes effect
      const pair = node.items.findLast((item) => String(item.key).toLowerCase() === wanted);
      if (!pair) break;
      offset = (pair.key as { range?: [number] }).range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
      offset = (node as { range?: [number] } | undefined)?.range?.[0] ?? offset;
    } else break;
  }
  return lines.linePos(offset).line;
}

interface KeyReport {
  set(path: readonly string[]): void;
  unknown(path: readonly string[]): void;
  /** @param before spelling of the same key above */
  duplicate(path: readonly string[], before: string): void;
}

/** Compares keys case-insensitively, as Go's decoder does; reports and drops unknown keys. */
function renameKeys(
  schema: TSchema,
  value: unknown,
  path: readonly string[],
  report: KeyReport,
): unknown {
  const { properties, items } = schema as SchemaNode;
  if (items && Array.isArray(value))
    return value.map((item, index) => renameKeys(items, item, [...path, String(index)], report));
  if (!properties || typeof value !== 'object' || value === null || Array.isArray(value))
    return value;
  const names = new Map(Object.keys(properties).map((name) => [name.toLowerCase(), name]));
  const result: Record<string, unknown> = {};
  const written = new Map<string, string>();
  for (const [key, child] of Object.entries(value)) {
    const name = names.get(key.toLowerCase());
    if (name === undefined) {
      report.unknown([...path, key]);
      continue;
    }
    const before = written.get(name);
    if (before !== undefined) report.duplicate([...path, key], before);
    written.set(name, key);
    report.set([...path, name]);
    result[name] = renameKeys(properties[name]!, child, [...path, name], report);
  }
  return result;
}
