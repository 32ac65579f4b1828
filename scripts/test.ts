/**
 *     npm test                 all test files
 *     npm test -- controller   the files with the word in their path; several words: any of them
 *
 * Suites whose requirements this machine lacks are skipped and listed with the reason. The last line
 * is `N passed, N failed, N skipped` over single tests. Exit code 1 when a test failed.
 *
 * `--json <file>` writes counts and skips for other programs.
 */
import { globSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { longestFirst, recordTimes } from './lib/file-times.ts';
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
const onVpp = files.filter(needsVpp);
const others = longestFirst(files.filter((file) => !needsVpp(file)));
const results = [
  ...(await runTests(others, {
    concurrency: Math.min(2, availableParallelism()),
    fileLimitMs: 300_000,
    onFile,
  })),
  // VPP polls and its suites send traffic: they run alone, at the end.
  ...(await runTests(onVpp, { concurrency: 1, fileLimitMs: VPP_FILE_LIMIT_MS, onFile })),
];
recordTimes(results);

const counts = countAll(results);
const skips = skipLines(results);
if (skips.length > 0) console.log(`\nskipped:\n${skips.map((line) => `  ${line}`).join('\n')}`);
console.log(`\n${countsText(counts)}`);
if (values.json !== undefined) {
  const skipped = results.flatMap(({ file, skips }) => skips.map((skip) => ({ file, ...skip })));
  writeFileSync(values.json, JSON.stringify({ ...counts, skips: skipped }));
}
process.exitCode = counts.failed > 0 ? 1 : 0;
