/** All cases of the suites on real nodes of which `npm run test:vpp` runs a part. */
import { runSuites } from '../scripts/lib/run-suites.ts';

export const NAME = 'real nodes: bulk TCP and manual changes in all cases';

const files = [
  'test/integration/vpp/bulk-tcp.test.ts',
  'test/integration/vpp/manual-changes.test.ts',
];

export async function run(print: (line: string) => void): Promise<void> {
  process.env['VPP_CASES'] = 'all';
  await runSuites(files, 1, print);
}
