/** The places of a program outside of its folder. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, it } from 'node:test';
import { partOf } from '../../scripts/lib/docs/documents.ts';

const programs = globSync('src/cmd/*/').map((path) => basename(path));
const {
  bin,
  scripts,
}: Record<'bin' | 'scripts', Record<string, string>> = JSON.parse(
  readFileSync('package.json', 'utf8'),
);

describe('programs', () => {
  it('have a main.ts or main.c that package.json starts or builds', () => {
    assert.ok(programs.includes('agent'));
    for (const name of programs) {
      const [main] = globSync(`src/cmd/${name}/main.{ts,c}`);
      assert.ok(main, name);
      const isStarted = Object.values(bin).includes(`./${main}`);
      assert.ok(isStarted || `build:${name}` in scripts, `package.json: bin or build:${name}`);
    }
    for (const path of Object.values(bin)) assert.ok(existsSync(path), `package.json: ${path}`);
  });

  it('are in the folder table of docs/architecture.md', () => {
    const table = partOf(readFileSync('docs/architecture.md', 'utf8'), 'folders');
    const row = table.split('\n').find((line) => line.includes('`src/cmd/<name>`')) ?? '';
    const named = [...row.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
    assert.deepEqual(named.sort(), programs.sort());
  });

  it('have tests', () => {
    for (const name of programs)
      assert.ok(globSync(`test/cmd/${name}/*.test.ts`).length > 0, `test/cmd/${name}`);
  });
});
