/**
 *     npm test                 all test files but the suites with traffic on VPP, of which it runs three
 *                              (`npm run test:vpp` runs all); of long suites the part of the commit
 *     npm test -- controller   the files with the word in their path, whole; several words: any of them
 *
 * Suites whose requirements this machine lacks are skipped and listed with the reason. The last line
 * is `N passed, N failed, N skipped` over single tests. Exit code 1 when a test failed.
 *
 * `--json <file>` writes counts and skips for other programs.
 */
import { globSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { buildProgram } from './lib/bundles.ts';
import { groupFiles } from './lib/file-groups.ts';
import { longestFirst, recordTimes } from './lib/file-times.ts';
import { partOfCommit } from './lib/part-of-commit.ts';
import { type FileResult, runTests } from './lib/run-tests.ts';
import { countAll, countsText, fileText, skipLines } from './lib/test-report.ts';
import { runsAlone, runsOnlyInTestVpp, VPP_FILE_LIMIT_MS } from './lib/vpp-report.ts';

/** `npm run test:vpp` and `npm run soak -- tables` run all of them. */
const PARTS = 8;
/** Many files wait for a time, for a program or for a browser most of the time. */
const WORKERS = Math.min(4, availableParallelism() + 2);

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'string' } },
});

const files = globSync('test/**/*.test.ts')
  .filter((file) =>
    words.length === 0 ? !runsOnlyInTestVpp(file) : words.some((word) => file.includes(word)),
  )
  .sort();
if (files.length === 0) {
  console.error(`no test file has ${words.map((word) => `"${word}"`).join(' or ')} in its path`);
  process.exit(1);
}

if (words.length === 0) process.env['SUITE_PART'] ??= partOfCommit(PARTS);
const part = process.env['SUITE_PART'];
if (part !== undefined)
  console.log(`long suites: part ${part}; again with: SUITE_PART=${part} npm test -- <word>`);

// They take a third of the CPU time of the sources to start: test/support/program-command.ts.
if (words.length === 0) {
  for (const name of ['agent', 'ksr', 'stn']) await buildProgram(name);
  process.env['CV_BUNDLES'] = 'built';
}

const onFile = (result: FileResult): void => void process.stdout.write(fileText(result));
const single = (all: readonly string[]) => all.map((file) => [file]);
const alone = files.filter(runsAlone);
const others = files.filter((file) => !runsAlone(file));
const units = words.length === 0 ? groupFiles(others) : single(others);
const results = [
  ...(await runTests(longestFirst(units), {
    concurrency: WORKERS,
    testLimitMs: 300_000,
    onFile,
  })),
  // They send traffic, and count lost packets and milliseconds.
  ...(await runTests(single(alone), { concurrency: 1, testLimitMs: VPP_FILE_LIMIT_MS, onFile })),
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
