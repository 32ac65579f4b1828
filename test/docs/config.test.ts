/** Compares config/*.conf with the schemas of the agent. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { before, describe, it } from 'node:test';
import Value from 'typebox/value';
import { durationMs } from '#infra/config/duration.ts';
import { parseConfig } from '#infra/config/load.ts';
import {
  type ConfigDocument,
  configDocuments,
  keysOfSchema,
} from '../../scripts/lib/docs/config.ts';

/** Converts durations to milliseconds: texts in the files, nanoseconds in the schemas. */
function comparable(value: unknown, byDefault: unknown): unknown {
  if (typeof byDefault === 'object' && byDefault !== null && !Array.isArray(byDefault))
    return Object.fromEntries(
      Object.entries(byDefault).map(([key, inner]) => [
        key,
        comparable((value as Record<string, unknown>)[key], inner),
      ]),
    );
  const isDuration = typeof value === 'string' && typeof byDefault === 'number';
  return isDuration ? durationMs(value) * 1e6 : value;
}

const source = globSync(['src/**/*.ts', 'plugins/**/*.ts'])
  .filter((path) => !path.endsWith('.gen.ts'))
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n');
/** Accepted for compatibility with files of the original. */
const unread: ReadonlySet<string> = new Set(['dial-timeout']);

describe('config/', () => {
  let schemas: ConfigDocument[] = [];
  before(async () => {
    schemas = await configDocuments();
  });

  it('has a file for each schema and no other', () => {
    const files = globSync('config/*').map((path) => basename(path));
    assert.deepEqual(files.sort(), schemas.map(({ fileName }) => fileName).sort());
    assert.ok(files.includes('controller.conf'));
  });

  it('sets no key by default', () => {
    for (const { fileName, schema } of schemas) {
      const text = readFileSync(`config/${fileName}`, 'utf8');
      const { value, set, warnings } = parseConfig(schema, text, fileName);
      assert.deepEqual([...set, ...warnings], []);
      assert.deepEqual(value, Value.Default(schema, {}), fileName);
    }
  });

  it('sets every key to its default when one # is removed from each line', () => {
    for (const { fileName, schema } of schemas) {
      const text = readFileSync(`config/${fileName}`, 'utf8').replace(/^#/gm, '');
      const { value, set, warnings } = parseConfig(schema, text, fileName);
      const byDefault = Value.Default(schema, {});
      assert.deepEqual(warnings, [], fileName);
      assert.deepEqual(comparable(value, byDefault), byDefault, fileName);
      for (const { path } of keysOfSchema(schema))
        if (!path.includes('[]')) assert.ok(set.has(path), `${fileName} lacks ${path}`);
    }
  });

  it('describes every key', () => {
    for (const { fileName, schema } of schemas)
      for (const { path, node } of keysOfSchema(schema))
        assert.ok(node.description, `${fileName}: ${path} has no description in its schema`);
  });

  it('has only keys that are read', () => {
    for (const { fileName, schema } of schemas)
      for (const { path } of keysOfSchema(schema)) {
        const key = path.split('.').at(-1)!;
        if (!unread.has(key)) assert.match(source, readOf(key), `${fileName}: ${path} is not read`);
      }
  });
});

/** A property access or a destructuring, but not the key in its schema. */
function readOf(key: string): RegExp {
  return new RegExp(`(\\.|\\['|\\{ |, |^ +)${key}('\\]|\\b)(?!: [A-Z][a-z])`, 'm');
}
