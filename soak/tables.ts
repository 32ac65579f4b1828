/** All cases of the long suites on the simulator, of which `npm test` runs a part. */
import { runSuites } from '../scripts/lib/run-suites.ts';

export const NAME = 'tables: all cases of the long suites on the simulator';

const files = [
  'test/cmd/agent/crash.test.ts',
  'test/cmd/agent/crash-policies.test.ts',
  'test/cmd/agent/crash-services.test.ts',
  'test/vpp/descriptors/transitions.test.ts',
  'test/vpp/descriptors/releases.test.ts',
  'test/linux/descriptors/transitions.test.ts',
];

export async function run(print: (line: string) => void): Promise<void> {
  delete process.env['SUITE_PART'];
  await runSuites(files, 2, print);
}
