import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { groupFiles } from '../../scripts/lib/file-groups.ts';
import type { FileResult } from '../../scripts/lib/run-tests.ts';

const HEAD = `import { describe, it, test } from 'node:test';\n`;
const files: Readonly<Record<string, string>> = {
  good: `test('one', () => {}); describe('s', () => { it('two', () => {}); });`,
  bad: `describe('outer', () => { it('fails', () => { throw new Error('no'); }); });`,
  skipping: `test('alone', { skip: 'needs a' }, () => {});`,
  empty: `export const nothing = 1;`,
  crashing: `test('one', () => {}); test('two', () => process.exit(3));`,
  unloadable: `import './absent.ts';`,
  changing: `test('one', () => { process.env['CHANGED'] = '1'; });`,
  endless: `test('one', () => { setInterval(() => {}, 1000); });`,
  deaf: `process.on('SIGTERM', () => {}); test('one', () => { setInterval(() => {}, 1000); });`,
};

describe('test files in one process', () => {
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'groups-'));
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(folder, `${name}.test.ts`), HEAD + text);
  });
  after(() => rmSync(folder, { recursive: true }));

  /** @returns of each file how many tests passed, then the texts of its failures */
  function run(...names: string[]): readonly (readonly [number, ...string[]])[] {
    const module = new URL('../../scripts/lib/run-tests.ts', import.meta.url);
    const unit = names.map((name) => `${name}.test.ts`);
    const options = `{ concurrency: 1, testLimitMs: 5000, onFile() {} }`;
    const script = `const { runTests } = await import('${module}');
      console.log(JSON.stringify(await runTests([${JSON.stringify(unit)}], ${options})));`;
    // The test runner refuses to run inside a test unless this variable is unset.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const program = join(folder, 'run.mts');
    writeFileSync(program, script);
    const { stdout } = spawnSync(process.execPath, [program], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    const results = JSON.parse(stdout) as readonly FileResult[];
    assert.deepEqual(
      results.map(({ file }) => file),
      unit,
    );
    return results.map(({ passed, failures }) => [passed, ...failures.map(({ text }) => text)]);
  }

  it('are counted each', () => {
    assert.deepEqual(run('good', 'skipping', 'good'), [[2], [0], [0, 'has no test']]);
  });

  it('fail each for itself', () => {
    const [bad, empty, unloadable, changing, good] = run(
      'bad',
      'empty',
      'unloadable',
      'changing',
      'good',
    );
    assert.match(bad?.[1] ?? '', /Error: no/);
    assert.deepEqual(empty, [0, 'has no test']);
    assert.match(unloadable?.[1] ?? '', /Cannot find module .*absent/);
    assert.match(changing?.[1] ?? '', /CHANGED/);
    assert.deepEqual(good, [2]);
  });

  it('fail where one ends the process, which loses what was reported last', () => {
    const [first, ...others] = run('good', 'crashing', 'skipping');
    assert.match(first?.[1] ?? '', /exit code 3/);
    const text = 'not run: the process ended in good.test.ts or later';
    assert.deepEqual(others, [
      [0, text],
      [0, text],
    ]);
  });

  it('fail where one keeps the process from ending', () => {
    const [good, endless, again] = run('good', 'endless');
    assert.deepEqual(good, [2]);
    assert.equal(endless?.[0], 1);
    assert.match(endless?.[1] ?? '', /no test ended within 5 s: killed/);
    assert.equal(again, undefined);
  });

  it('end where one ignores the signal of the time limit', () => {
    const [[, text] = []] = run('deaf');
    assert.match(text ?? '', /no test ended within 5 s: killed/);
  });

  it('are small ones of one folder, without state of the process', () => {
    mkdirSync(join(folder, 'test/infra'), { recursive: true });
    mkdirSync(join(folder, 'test/ui'));
    const paths = ['infra/a', 'infra/b', 'infra/state', 'ui/page'].map((path) =>
      join('test', `${path}.test.ts`),
    );
    const here = process.cwd();
    try {
      process.chdir(folder);
      for (const path of paths)
        writeFileSync(path, path.includes('state') ? 'process.umask(0);' : '');
      const [a, b, state, page] = paths;
      assert.deepEqual(groupFiles(paths), [[a, b], [state], [page]]);
    } finally {
      process.chdir(here);
    }
  });
});
