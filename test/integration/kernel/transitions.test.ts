/** Values of the kernel of this machine from any of their configurations to any other. */
import { linuxFamilies } from '#test/descriptors/transitions/families/linux.ts';
import { pairSuite } from '#test/descriptors/transitions/pairs.ts';
import { poolOf, sequenceSuite } from '#test/descriptors/transitions/sequences.ts';
import { backendOn } from '#test/linux/descriptors/backends.ts';
import { declareUnless, withoutKernel } from '#test/support/requirements.ts';
import { kernelMachine } from '../support/linux-kernel.ts';

const TITLE = 'changes of values of the kernel of this machine';
await declareUnless(withoutKernel(), TITLE, async () => {
  const pairs = await kernelMachine();
  pairSuite(() => backendOn(pairs), linuxFamilies(pairs.spaces.pods));
  const sequences = await kernelMachine();
  const families = linuxFamilies(sequences.spaces.pods);
  sequenceSuite(() => backendOn(sequences), poolOf(families.filter((each) => !each.isUnmarked)), {
    file: 'test/integration/kernel/transitions.test.ts',
    runs: 3,
    steps: 8,
  });
});
