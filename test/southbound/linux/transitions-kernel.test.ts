/** Values of the kernel of this machine from any of their configurations to any other. */
import { test } from 'node:test';
import { kernelMissing } from '../linux-kernel.ts';
import { linuxFamilies } from '../transitions/families/linux.ts';
import { pairSuite } from '../transitions/pairs.ts';
import { poolOf, sequenceSuite } from '../transitions/sequences.ts';
import { backendOn, kernelMachine } from './backends.ts';

const missing = await kernelMissing();
if (missing === undefined) {
  const pairs = await kernelMachine();
  pairSuite(() => backendOn(pairs), linuxFamilies(pairs.spaces.pods));
  const sequences = await kernelMachine();
  const families = linuxFamilies(sequences.spaces.pods);
  sequenceSuite(() => backendOn(sequences), poolOf(families.filter((each) => !each.bearsNoMark)), {
    file: 'test/southbound/linux/transitions-kernel.test.ts',
    runs: 3,
    steps: 8,
  });
} else {
  test.skip(`changes of values of the kernel of this machine: ${missing}`);
}
