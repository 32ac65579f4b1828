/**
 *     npm test                 every test file that can run on this machine
 *     npm test -- controller   those with the word in their path; several words: any of them
 *
 * Suites that need something this machine lacks skip themselves; they are listed before the last
 * line, which is `N passed, N failed, N skipped` over single tests. Exit code 1 when any failed.
 *
 * `--json <file>` writes counts and skips for other programs.
 */
import { globSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { type FileResult, runTests } from './lib/run-tests.ts';
import { countAll, countsText, fileText, skipLines } from './lib/test-report.ts';
import { needsVpp, VPP_FILE_LIMIT_MS } from './lib/vpp-report.ts';

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'string' } },
});

const files = globSync('test/**/*.test.ts')
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .sort();
if (files.length === 0) {
  console.error(`no test file has ${words.map((word) => `"${word}"`).join(' or ')} in its path`);
  process.exit(1);
}

const onFile = (result: FileResult): void => void process.stdout.write(fileText(result));
const [alone, together] = [true, false].map((wanted) =>
  files.filter((file) => needsVpp(file) === wanted),
) as [string[], string[]];
const results = [
  ...(await runTests(together, {
    concurrency: Math.min(2, availableParallelism()),
    fileLimitMs: 300_000,
    onFile,
  })),
  // VPP polls and its suites send traffic: they get the machine for themselves, at the end.
  ...(await runTests(alone, { concurrency: 1, fileLimitMs: VPP_FILE_LIMIT_MS, onFile })),
];

const counts = countAll(results);
const skips = skipLines(results);
if (skips.length > 0) console.log(`\nskipped:\n${skips.map((line) => `  ${line}`).join('\n')}`);
console.log(`\n${countsText(counts)}`);
if (values.json !== undefined) {
  const skipped = results.flatMap(({ file, skips }) => skips.map((skip) => ({ file, ...skip })));
  writeFileSync(values.json, JSON.stringify({ ...counts, skips: skipped }));
}
process.exitCode = counts.failed > 0 ? 1 : 0;
