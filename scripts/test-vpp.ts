/**
 *     npm run test:vpp
 *
 * Runs the suites on a real VPP (test/integration/vpp) and writes the section of its release in
 * docs/vpp-report.md; the sections of other releases stay. Needs root and `vpp` in the PATH. Exit
 * code 1 when a test failed or no test ran on VPP.
 */

import { globSync, writeFileSync } from 'node:fs';
import { VppProcess } from '#test/integration/support/vpp-process.ts';
import { withoutVpp } from '#test/support/requirements.ts';
import { hasVhostNet, vhostNetLibrary } from '#test/support/vhost-net.ts';
import { runTests } from './lib/run-tests.ts';
import { countAll, countsText, fileText, skipLines } from './lib/test-report.ts';
import {
  needsVpp,
  REPORT,
  readSections,
  renderReport,
  renderSection,
  treeLines,
  VPP_FILE_LIMIT_MS,
} from './lib/vpp-report.ts';

const reason = withoutVpp();
if (reason) {
  console.error(reason);
  process.exit(1);
}

/** Over the API: VPP 25.10 has no option `--version`. */
async function vppRelease(): Promise<string> {
  const vpp = new VppProcess();
  try {
    await vpp.start();
    return await vpp.withClient(
      async (client) => (await client.request('show_version', {})).version,
    );
  } finally {
    await vpp.remove();
  }
}

const release = await vppRelease();
console.log(`VPP ${release}`);
// The report is about all cases.
delete process.env['SUITE_PART'];
// More kills than in `npm test`, which has less time.
process.env['VPP_KILLS'] ??= '50';
const trees = treeLines();
const files = globSync('test/**/*.test.ts').filter(needsVpp).sort();
const results = await runTests(
  files.map((file) => [file]),
  {
    concurrency: 1,
    testLimitMs: VPP_FILE_LIMIT_MS,
    onFile: (result) => process.stdout.write(fileText(result)),
  },
);

const counts = countAll(results);
for (const line of skipLines(results)) console.log(`skipped: ${line}`);
if (counts.passed === 0) {
  console.error(`no test ran on VPP ${release}: ${REPORT} is unchanged`);
  process.exitCode = 1;
} else if (treeLines().join() !== trees.join()) {
  console.error(`the source changed during the run: ${REPORT} is unchanged`);
  process.exitCode = 1;
} else {
  const section = renderSection(release, trees, results, tapDevice());
  writeFileSync(REPORT, renderReport(new Map([...readSections(), [release, section]])));
}
console.log(`\n${countsText(counts)}`);
if (counts.failed > 0) process.exitCode = 1;

function tapDevice(): string {
  if (vhostNetLibrary() !== undefined)
    return 'TAPs: with a library that replaces /dev/vhost-net, preloaded into VPP.';
  return hasVhostNet() ? 'TAPs: with /dev/vhost-net.' : 'TAPs: none, /dev/vhost-net is missing.';
}
