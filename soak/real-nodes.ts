/** All cases of the suites on real nodes of which `npm run test:vpp` runs a part. */
import { runTests } from '../scripts/lib/run-tests.ts';
import { countAll, countsText, fileText } from '../scripts/lib/test-report.ts';

export const NAME = 'real nodes: bulk TCP and manual changes in all cases';

const files = [
  'test/integration/vpp/bulk-tcp.test.ts',
  'test/integration/vpp/manual-changes.test.ts',
];
const FILE_LIMIT_MS = 1_200_000;

export async function run(print: (line: string) => void): Promise<void> {
  process.env['VPP_CASES'] = 'all';
  const results = await runTests(files, {
    concurrency: 1,
    fileLimitMs: FILE_LIMIT_MS,
    onFile: (result) => print(fileText(result).trimEnd()),
  });
  const counts = countAll(results);
  print(countsText(counts));
  if (counts.failed > 0) throw new Error(`${counts.failed} tests failed`);
}
