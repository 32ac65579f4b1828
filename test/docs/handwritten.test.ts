/** Checks hand-written parts of the documents that can be compared with the source. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { routes } from '../../scripts/lib/docs/routes.ts';

const documents = [...globSync('*.md'), ...globSync('{docs,deploy,examples}/**/*.md')].map(
  (path) => ({ path, text: readFileSync(path, 'utf8') }),
);
const scripts = JSON.parse(readFileSync('package.json', 'utf8')).scripts as object;
const files = globSync(['src/**/*.ts', 'plugins/**/*.ts']);
/** The documents with the flags and variables of the programs besides the agent. */
const programDocuments = {
  ksr: 'docs/ksr.md',
  init: 'docs/contiv-init.md',
  stn: 'docs/stn.md',
};
const isOf = (program: string) => (path: string) =>
  path.startsWith(`src/${program}/`) || path.startsWith(`src/cmd/${program}/`);
const isOfAgent = (path: string): boolean =>
  ![...Object.keys(programDocuments), 'netctl'].some((program) => isOf(program)(path));
const textOf = (paths: readonly string[]): string =>
  paths.map((path) => readFileSync(path, 'utf8')).join('\n');
const source = textOf(files.filter(isOfAgent));

describe('documents', () => {
  it('link only to existing files of the repository', () => {
    let links = 0;
    for (const { path, text } of documents)
      for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        const [file = ''] = target.split('#');
        if (/^https?:/.test(target) && path === 'README.md') continue;
        if (file !== '') assert.ok(existsSync(join(dirname(path), file)), `${path}: ${target}`);
        links++;
      }
    assert.ok(links > 5);
  });

  it('name only existing files of the source', () => {
    for (const { path, text } of documents)
      for (const [, file = ''] of text.matchAll(
        /`((?:src|plugins|scripts|test|bench)\/[\w./-]+\.(?:ts|json))`/g,
      ))
        assert.ok(existsSync(file), `${path}: ${file}`);
  });

  it('name only existing routes', () => {
    const known = routes().map(({ method, path }) => `${method} ${path}`);
    // test/compatibility/paths.test.ts compares the one with the routes of the original
    const ours = documents.filter(({ path }) => path !== 'docs/compatibility.md');
    const named = ours.flatMap(({ text }) => [
      ...[...text.matchAll(/\b(GET|POST|PUT|DELETE) (\/[\w/:-]+)/g)].map(
        ([, method, path]) => `${method} ${path}`,
      ),
      ...[...text.matchAll(/127\.0\.0\.1:9999(\/[\w/-]+)/g)].map(
        ([, path = '']) => `GET ${path.replace(/\/$/, '')}`,
      ),
    ]);
    assert.ok(named.length > 5);
    for (const route of named) assert.ok(known.includes(route), route);
  });

  it('name only existing scripts of package.json', () => {
    for (const { path, text } of documents)
      for (const [, name = ''] of text.matchAll(/npm run (?:-s )?([\w:-]+)/g))
        assert.ok(name in scripts, `${path}: npm run ${name}`);
  });
});

describe('docs/configuration.md', () => {
  const text = readFileSync('docs/configuration.md', 'utf8');

  it('names exactly the environment variables of the agent', () => {
    const read = [...source.matchAll(/\benv\['(\w+)'\]/g)].map(([, name]) => name!);
    const table = text.slice(text.indexOf('## Flags'), text.indexOf('## Keys'));
    const named = [...table.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name]) => name!);
    // Node.js itself reads the last one
    const found = new Set([...read.filter((name) => name !== 'PATH'), 'NODE_COMPILE_CACHE']);
    assert.deepEqual([...new Set(named)].sort(), [...found].sort());
  });

  it('names exactly the flags of the agent', async () => {
    const { LABEL_FLAG } = await import('#infra/service-label/service-label.ts');
    const table = text.slice(text.indexOf('## Flags'), text.indexOf('## Keys'));
    const flags = [...table.matchAll(/`--([a-z-]+)`/g)].map(([, name]) => name!);
    const known = [
      ...[...source.matchAll(/(?:\.option|new Option)\(\s*'--([a-z-]+)/g)].map(([, name]) => name!),
      LABEL_FLAG,
    ];
    assert.deepEqual([...new Set(flags)].sort(), known.sort());
  });
});

for (const [program, document] of Object.entries(programDocuments))
  it(`${document} names the flags and environment variables of contiv-${program}`, () => {
    const text = readFileSync(document, 'utf8');
    const own = textOf(files.filter(isOf(program)));
    const read = [...own.matchAll(/\benv\['(\w+)'\]/g)].map(([, name]) => name!);
    const flags = [...own.matchAll(/\.option\(\s*'(--[a-z-]+)/g)].map(([, name]) => name!);
    assert.ok(read.length > 0 && flags.length > 1);
    for (const name of [...read, ...flags]) assert.ok(text.includes(name), name);
  });
