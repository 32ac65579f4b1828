/**
 *     npm run test:vpp
 *
 * Runs the suites that need a real VPP (test/integration/vpp/) and writes docs/vpp-report.md. Needs a `vpp` binary in the PATH and root. Exit code 1 when a test failed or
 * VPP was not used at all.
 */
import { execFileSync } from 'node:child_process';
import { globSync, writeFileSync } from 'node:fs';
import { runTests } from './lib/run-tests.ts';
import { countAll, countsText, fileText, skipLines } from './lib/test-report.ts';
import { needsVpp, REPORT, renderReport, treeLines, VPP_FILE_LIMIT_MS } from './lib/vpp-report.ts';

function vppVersion(): string {
  try {
    const text = execFileSync('vpp', ['--version'], { encoding: 'utf8', stdio: 'pipe' });
    return /v\d\S*/.exec(text)?.[0] ?? 'of unknown version';
  } catch {
    console.error('no vpp binary in the PATH: install VPP (packages of fd.io), then run again');
    process.exit(1);
  }
}

const version = vppVersion();
// so many here, where there is time; `npm test` has fewer
process.env['VPP_KILLS'] ??= '50';
const trees = treeLines();
const files = globSync('test/**/*.test.ts').filter(needsVpp).sort();
const results = await runTests(files, {
  concurrency: 1,
  fileLimitMs: VPP_FILE_LIMIT_MS,
  onFile: (result) => process.stdout.write(fileText(result)),
});

const counts = countAll(results);
for (const line of skipLines(results)) console.log(`skipped: ${line}`);
if (counts.passed === 0) {
  console.error(`nothing ran against VPP ${version}: ${REPORT} is left as it was`);
  process.exitCode = 1;
} else if (treeLines().join() !== trees.join()) {
  console.error(`the source changed during the run: ${REPORT} is left as it was`);
  process.exitCode = 1;
} else writeFileSync(REPORT, renderReport(version, trees, results));
console.log(`\n${countsText(counts)}`);
if (counts.failed > 0) process.exitCode = 1;
