/**
 * All cases of the long properties, of which `npm test` runs the first ones. CV_PART=3/8 runs the
 * third of eight parts.
 */
import { runTests } from '../scripts/lib/run-tests.ts';
import { countAll, countsText, fileText } from '../scripts/lib/test-report.ts';

export const NAME = 'random cases: all cases of the long properties';

/** Test files with properties of more cases than `npm test` runs. */
const files = [
  'test/kvscheduler/properties.test.ts',
  'test/kvscheduler/windows.test.ts',
  'test/datastore/faulty-disk.test.ts',
];
const FILE_LIMIT_MS = 1_800_000;

export async function run(print: (line: string) => void): Promise<void> {
  const part = process.env['CV_PART'] ?? '1/1';
  process.env['CV_PART'] = part;
  print(`part ${part}; to run it again: CV_PART=${part} npm run soak -- random`);
  const results = await runTests(files, {
    concurrency: 2,
    fileLimitMs: FILE_LIMIT_MS,
    onFile: (result) => print(fileText(result).trimEnd()),
  });
  const counts = countAll(results);
  print(countsText(counts));
  if (counts.failed > 0) throw new Error(`${counts.failed} tests failed`);
}
