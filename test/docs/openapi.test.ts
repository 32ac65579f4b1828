/** Validates the OpenAPI document of a running agent, and compares it with the routes in both directions. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import type { TSchema } from 'typebox';
import Value from 'typebox/value';
import type { ValueSearch } from '#documents/scheduler/value-search.ts';
import type { OpenApiDocument, OpenApiOperation } from '#infra/http/openapi.ts';
import { makeNode, type RunningAgent, startAgent } from '#test/cmd/agent/harness.ts';
import { partOf } from '../../scripts/lib/docs/documents.ts';
import { documentedArguments, routes } from '../../scripts/lib/docs/routes.ts';

interface Documented {
  readonly method: string;
  readonly path: string;
  readonly operation: OpenApiOperation;
}

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: boolean;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
}

/** Fields of the document that its schema does not have. */
function undescribed(schema: SchemaNode, document: unknown, path = ''): string[] {
  const { properties, items, anyOf, additionalProperties } = schema;
  if (anyOf) {
    const found = anyOf
      .filter((one) => Value.Check(one as TSchema, document))
      .map((one) => undescribed(one, document, path));
    return found.find(({ length }) => length === 0) ?? found[0] ?? [];
  }
  if (items && Array.isArray(document))
    return document.flatMap((one, at) => undescribed(items, one, `${path}[${at}]`));
  if (!properties || additionalProperties || typeof document !== 'object' || document === null)
    return [];
  if (Object.keys(properties).length === 0) return [];
  return Object.entries(document).flatMap(([name, value]) => {
    const its = properties[name];
    return its ? undescribed(its, value, `${path}.${name}`) : [`${path}.${name}`];
  });
}

describe('the OpenAPI document', () => {
  let running: RunningAgent;
  let text = '';
  let operations: Documented[] = [];
  before(async () => {
    running = await startAgent(makeNode());
    text = await (await ask('GET', '/openapi.json')).text();
    operations = Object.entries((JSON.parse(text) as OpenApiDocument).paths).flatMap(
      ([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({
          method: method.toUpperCase(),
          path,
          operation,
        })),
    );
  });
  after(() => running?.stop());

  const ask = (method: string, path: string) =>
    fetch(`http://127.0.0.1:${running.agent.port}${path}`, { method });

  it('is valid', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] });
    const problems = await lintFromString({ source: text, config });
    assert.deepEqual(
      problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
      [],
    );
  });

  it('has exactly the routes of the source, and their arguments', () => {
    const names = operations.map(({ method, path }) => `${method} ${path}`).sort();
    const declared = routes().map(
      ({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`,
    );
    assert.deepEqual(names, declared.sort());
    const table = documentedArguments(partOf(readFileSync('docs/rest.md', 'utf8'), 'routes'));
    for (const { method, path, operation } of operations) {
      const key = `\`${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}\``;
      const query = operation.parameters.filter((parameter) => parameter.in === 'query');
      assert.deepEqual(
        query.map(({ name }) => name).sort(),
        [...new Set(table.get(key))].sort(),
        `${key}: arguments of the declaration and of docs/rest.md`,
      );
    }
  });

  it('has only operations that are served, with replies of the types and schemas that it names', async () => {
    const { body: search } = await running.get('/scheduler/values?limit=1');
    const { key = '' } = (search as ValueSearch).values[0] ?? {};
    const given: Readonly<Record<string, string>> = { key, 'seq-num': '0', flag: 'value-state' };
    for (const { method, path, operation } of operations) {
      const required = operation.parameters.filter((one) => one.in === 'query' && one.required);
      const query = new URLSearchParams(
        Object.fromEntries(required.map(({ name }) => [name, given[name] ?? ''])),
      );
      const response = await ask(method, `${path.replaceAll(/[{}]/g, '')}?${query}`);
      const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
      const isStream = type === 'text/event-stream';
      if (isStream) await response.body?.cancel();
      const body = isStream ? '' : await response.text();
      const name = `${method} ${path}: ${response.status} ${body.slice(0, 200)}`;
      assert.doesNotMatch(body, /no route [A-Z]+ \//, name);
      assert.notEqual(response.status, 405, name);
      if (response.status !== 200) continue;
      const { content } = operation.responses['200'] as {
        content: Record<string, { schema: TSchema }>;
      };
      const described = content[type];
      assert.ok(described, `${name}: ${type} is not among ${Object.keys(content).join(', ')}`);
      if (type !== 'application/json') continue;
      const document: unknown = JSON.parse(body);
      assert.deepEqual([...Value.Errors(described.schema, document)], [], name);
      assert.deepEqual(undescribed(described.schema, document), [], name);
    }
  });

  it('is shown as a page that loads nothing', async () => {
    const response = await ask('GET', '/openapi');
    const page = await response.text();
    assert.match(
      response.headers.get('content-security-policy') ?? '',
      /^default-src 'none'; style/,
    );
    assert.doesNotMatch(page, /<script|<link|<img|src=|url\(|https?:/);
    for (const { path, operation } of operations) {
      assert.ok(page.includes(`<code>${path}</code>`), path);
      assert.ok(page.includes(operation.summary.replaceAll('"', '&quot;').replaceAll('<', '&lt;')));
    }
  });
});
