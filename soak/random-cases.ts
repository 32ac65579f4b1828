/**
 * All cases of the long properties, of which `npm test` runs the first ones. CV_PART=3/8 runs the
 * third of eight parts.
 */
import { runSuites } from '../scripts/lib/run-suites.ts';

export const NAME = 'random cases: all cases of the long properties';

/** Test files with properties of more cases than `npm test` runs. */
const files = [
  'test/kvscheduler/properties.test.ts',
  'test/kvscheduler/windows.test.ts',
  'test/datastore/faulty-disk.test.ts',
  'test/plugins/random-failures.test.ts',
];

export async function run(print: (line: string) => void): Promise<void> {
  const part = process.env['CV_PART'] ?? '1/1';
  process.env['CV_PART'] = part;
  print(`part ${part}; to run it again: CV_PART=${part} npm run soak -- random`);
  await runSuites(files, 2, print);
}
