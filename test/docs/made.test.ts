/** Compares the generated tables of docs/ and the files of config/ with the source, in both directions. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Blocking, DefinedKind } from '#plugins/controller/api/event.ts';
import { EventMethod } from '#plugins/controller/api/event.ts';
import { TestNode } from '#test/plugins/test-node.ts';
import { type Document, documents, partOf } from '../../scripts/lib/docs/documents.ts';
import { folderRules } from '../../scripts/lib/docs/folders.ts';
import { documentedArguments, queryArguments, routes } from '../../scripts/lib/docs/routes.ts';
import { keysOf, MISSING } from '../../scripts/lib/docs/table.ts';

const sourceFiles = globSync(['src/**/*.ts', 'plugins/**/*.ts'])
  .filter((path) => !path.endsWith('.gen.ts'))
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }));

/** Matches of the group of a pattern in the whole source, sorted. */
function inSource(pattern: RegExp): string[] {
  return sourceFiles
    .flatMap(({ text }) => [...text.matchAll(pattern)].map(([, found]) => found!))
    .sort();
}

/** First cells of a table in a document, without backticks. */
function documented(path: string, part: string): string[] {
  const table = partOf(readFileSync(path, 'utf8'), part);
  return keysOf(table)
    .map((key) => key.replaceAll('`', ''))
    .sort();
}

describe('generated documents', () => {
  let made: Document[] = [];
  before(async () => {
    made = await documents();
  });

  it('are up to date', () => {
    for (const { path, text } of made) {
      assert.notEqual(text, undefined, `${path} belongs to no schema: npm run docs removes it`);
      const found = existsSync(path) ? readFileSync(path, 'utf8') : '';
      assert.deepEqual(differences(found, text!), [], `${path} is out of date: npm run docs`);
      assert.equal(found, text);
    }
  });

  it('have no cell that is still to be written', () => {
    for (const { path, text } of made)
      for (const line of text?.split('\n') ?? [])
        assert.ok(!line.includes(MISSING), `${path}: write this cell: ${line}`);
  });
});

/** Lines that only one of two texts has. */
function differences(found: string, wanted: string): string[] {
  const [have, want] = [found, wanted].map((text) => text.split('\n')) as [string[], string[]];
  return [
    ...have.filter((line) => !want.includes(line)).map((line) => `has   ${line}`),
    ...want.filter((line) => !have.includes(line)).map((line) => `lacks ${line}`),
  ];
}

describe('errors', () => {
  const codes = inSource(/\bcode(?: =|:) '(CV_\w+)'/g);

  it('are all in docs/errors.md, each once', () => {
    assert.deepEqual(documented('docs/errors.md', 'errors'), codes);
    assert.ok(codes.includes('CV_CONFIG_INVALID'));
  });

  it('have unique codes', () => {
    assert.equal(new Set(codes).size, codes.length);
  });

  it('exist wherever a code or its prefix is mentioned', () => {
    for (const named of inSource(/'(CV_\w+)'/g))
      assert.ok(
        codes.some((code) => code.startsWith(named)),
        named,
      );
  });
});

describe('events', () => {
  const table = partOf(readFileSync('docs/events.md', 'utf8'), 'events');
  const rows = new Map(
    table.split('\n').map((line) => {
      const cells = line.split(' | ');
      return [cells[0]!.replace(/[|` ]/g, ''), cells];
    }),
  );
  const kinds: DefinedKind<unknown, unknown, Blocking>[] = [];
  before(async () => {
    for (const { path, text } of sourceFiles) {
      if (!/= defineEvent\b/.test(text)) continue;
      const module = await import(pathToFileURL(resolve(path)).href);
      for (const value of Object.values<Partial<(typeof kinds)[0]>>(module))
        if (typeof value === 'object' && typeof value?.event === 'function')
          kinds.push(value as (typeof kinds)[0]);
    }
  });

  it('are all in docs/events.md, each once', () => {
    const ids = kinds.map((kind) => kind.id).sort();
    assert.deepEqual(documented('docs/events.md', 'events'), ids);
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(inSource(/= (defineEvent)\b/g).length, kinds.length, 'a kind is not exported');
  });

  it('have the documented properties', () => {
    for (const kind of kinds) {
      const [, name, , method, transaction, direction, blocking] = rows.get(kind.id)!;
      const whether = kind.blocking === 'optional' ? 'yes or no' : kind.blocking ? 'yes' : 'no';
      assert.equal(blocking, whether, kind.id);
      const fixed = tryTo(() => [kind.name(undefined), kind.method(undefined)] as const);
      if (!fixed) continue;
      assert.equal(name, fixed[0], kind.id);
      assert.equal(method, nameOf(EventMethod, fixed[1]), kind.id);
      if (fixed[1] !== EventMethod.Update) assert.deepEqual([transaction, direction], ['–', '–']);
    }
  });
});

/** undefined when it throws, because the answer depends on the payload. */
function tryTo<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

function nameOf(enumeration: Readonly<Record<string, number>>, value: number): string | undefined {
  return Object.keys(enumeration).find((name) => enumeration[name] === value);
}

describe('metrics', () => {
  it('are all in docs/metrics.md, each once', () => {
    const names = documented('docs/metrics.md', 'metrics');
    assert.equal(new Set(names).size, names.length);
    assert.ok(names.includes('contiv_controller_queue_length'));
  });
});

describe('routes', () => {
  const table = partOf(readFileSync('docs/rest.md', 'utf8'), 'routes');

  it('are all in docs/rest.md, each once', () => {
    const paths = inSource(/^\s*path: '(\/[^']*)'/gm);
    const keys = documented('docs/rest.md', 'routes');
    assert.equal(new Set(keys).size, keys.length);
    for (const path of paths)
      assert.ok(
        keys.some((key) => key.endsWith(` ${path}`)),
        path,
      );
    assert.ok(keys.includes('GET /liveness'));
    assert.ok(keys.includes('GET /metrics'));
  });

  it('have the documented arguments, file by file', () => {
    const described = documentedArguments(table);
    const byFile = Map.groupBy(routes(), (route) => route.file);
    const asked = queryArguments();
    for (const [file, ofFile] of byFile) {
      const named = ofFile.flatMap(
        ({ method, path }) => described.get(`\`${method} ${path}\``) ?? [],
      );
      assert.deepEqual([...new Set(named)].sort(), asked.get(file) ?? [], `${file}: docs/rest.md`);
    }
  });
});

describe('import rules', () => {
  it('exist for every folder', () => {
    const ruled = folderRules().map(({ folder }) => folder);
    assert.ok(ruled.length > 10);
    for (const folder of globSync('src/*/').map((path) => path.replace(/\/$/, ''))) {
      const hasRule = ruled.some((path) => path === folder || path.startsWith(`${folder}/`));
      assert.ok(hasRule, `.dependency-cruiser.cjs has no rule for ${folder}`);
    }
  });

  it('are reserved exactly for the folders that do not exist yet', () => {
    const table = partOf(readFileSync('docs/architecture.md', 'utf8'), 'folders');
    for (const line of table.split('\n').slice(2)) {
      const [, folder = '', about = ''] = line.split('|').map((cell) => cell.trim());
      const found = globSync(folder.replaceAll('`', '').replace('<name>', '*')).filter(
        (path) => path !== 'src/cmd/agent',
      );
      assert.equal(about.startsWith('Reserved'), found.length === 0, folder);
    }
  });

  it('leave the order of the handlers in docs/architecture.md to the agent', () => {
    const picture = readFileSync('docs/architecture.md', 'utf8');
    const [, chain = ''] = /direction LR\n +([\w >-]+)\n/.exec(picture) ?? [];
    assert.deepEqual(
      chain.trim().split(' --> '),
      new TestNode().handlers.map(({ name }) => name),
    );
  });
});
