import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../scripts/test.ts', import.meta.url));

const runner = new URL('../../scripts/lib/run-tests.ts', import.meta.url).href;

const files: Readonly<Record<string, string>> = {
  good: `test('one', () => {}); describe('s', () => { it('two', () => {}); });`,
  bad: `describe('outer', () => { it('fails', () => { console.log('seen'); throw new Error('no'); });
        it('passes', () => {}); });`,
  skipping: `test('alone', { skip: 'needs a' }, () => {});
             describe('suite', { skip: 'needs b' }, () => { it('x', () => {}); it('y', () => {}); });`,
  empty: `export const nothing = 1;`,
  crashing: `test('one', () => {}); test('two', () => process.exit(3));`,
  unloadable: `import './absent.ts';`,
  late: `test('one', () => { setTimeout(() => { throw new Error('too late'); }, 20); });`,
  uncaught: `test('one', async () => {
               await null; setTimeout(() => { throw new Error('no test'); }); await new Promise(() => {}); });`,
  unhandled: `test('one', async () => {
                await null; Promise.reject(new Error('not awaited')); await new Promise(() => {}); });`,
  slow: `for (const name of 'abcd') test(name, () => new Promise((done) => setTimeout(done, 2_000)));`,
  hanging: `test('one', () => {}); test('two', () => new Promise(() => setInterval(() => {}, 1_000)));`,
  hook: `describe('s', () => { before(() => { throw new Error('hook'); }); it('x', () => {}); });`,
};

describe('npm test', () => {
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'run-tests-'));
    mkdirSync(join(folder, 'test'));
    const head = `import { before, describe, it, test } from 'node:test';\n`;
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(folder, 'test', `${name}.test.ts`), head + text);
  });
  after(() => rmSync(folder, { recursive: true }));

  const run = (...args: string[]) => {
    // The test runner refuses to run inside a test with the first; the second is of the run that this test is in.
    const { NODE_TEST_CONTEXT: _, SUITE_PART: __, ...env } = process.env;
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    return { status, stdout, stderr, last: stdout.trimEnd().split('\n').at(-1) };
  };

  it('counts single tests and succeeds when all pass', () => {
    const { status, last, stdout } = run('good');
    assert.equal(last, '2 passed, 0 failed, 0 skipped');
    assert.equal(status, 0);
    assert.match(stdout, /^ok {4}test\/good\.test\.ts {2}2 passed/);
  });

  it('shows the path, the text and the output of a failure', () => {
    const { status, last, stdout } = run('bad');
    assert.equal(last, '1 passed, 1 failed, 0 skipped');
    assert.equal(status, 1);
    assert.match(stdout, /outer > fails\n +Error: no\n/);
    assert.match(stdout, /output of the file:\n +seen\n/);
  });

  it('lists skipped tests with the reason and succeeds', () => {
    const { status, last, stdout } = run('skipping');
    assert.equal(last, '0 passed, 0 failed, 2 skipped');
    assert.equal(status, 0);
    assert.match(stdout, /test\/skipping\.test\.ts: alone: needs a\n/);
    assert.match(stdout, /test\/skipping\.test\.ts: suite: needs b\n/);
  });

  const broken = {
    empty: [0, /has no test/],
    crashing: [0, /exit code 3/],
    unloadable: [0, /Cannot find module .*absent/],
    late: [1, /too late/],
    uncaught: [0, /uncaught exception: Error: no test/],
    unhandled: [0, /unhandled rejection: Error: not awaited/],
    hook: [0, /Error: hook/],
  } as const;
  for (const [name, [passed, text]] of Object.entries(broken))
    it(`fails for a file that is ${name}`, () => {
      const { status, last, stdout } = run(name);
      assert.match(last ?? '', new RegExp(`^${passed} passed, [12] failed, 0 skipped$`));
      assert.equal(status, 1);
      assert.match(stdout, text);
    });

  it('kills a file in which no test ends for longer than the limit, not one that is slow', () => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const limited = `
      import { runTests } from ${JSON.stringify(runner)};
      const units = [['test/slow.test.ts'], ['test/hanging.test.ts']];
      const results = await runTests(units, { concurrency: 2, testLimitMs: 5_000, onFile: () => {} });
      for (const { file, passed, failures } of results)
        console.log(file, passed, failures.map(({ text }) => text).join());`;
    const file = join(folder, 'limited.mjs');
    writeFileSync(file, limited);
    const options = { cwd: folder, env, encoding: 'utf8' } as const;
    const { stdout, stderr } = spawnSync(process.execPath, [file], options);
    const lines = stdout.trimEnd().split('\n').sort();
    assert.match(lines[0] ?? stderr, /^test\/hanging\.test\.ts 1 no test ended within 5 s: killed/);
    assert.equal(lines[1], 'test/slow.test.ts 4');
  });

  it('selects files by words in their path and fails when no file matches', () => {
    assert.equal(run('good', 'skip').last, '2 passed, 0 failed, 2 skipped');
    const { status, stderr } = run('nowhere');
    assert.equal(status, 1);
    assert.match(stderr, /"nowhere"/);
  });

  it('writes counts and skips for other programs', () => {
    const json = join(folder, 'out.json');
    run('skipping', '--json', json);
    const { passed, failed, skipped, skips } = JSON.parse(readFileSync(json, 'utf8'));
    assert.deepEqual([passed, failed, skipped], [0, 0, 2]);
    assert.deepEqual(skips[1], {
      file: 'test/skipping.test.ts',
      path: ['suite'],
      reason: 'needs b',
    });
  });
});
