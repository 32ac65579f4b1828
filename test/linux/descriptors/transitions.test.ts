/** Values of a simulated kernel from any of their configurations to any other, and many at once. */
import { linuxFamilies } from '#test/descriptors/transitions/families/linux.ts';
import { pairSuite } from '#test/descriptors/transitions/pairs.ts';
import { refusalSuite } from '#test/descriptors/transitions/refusals.ts';
import { poolOf, sequenceSuite } from '#test/descriptors/transitions/sequences.ts';
import { selectCases } from '#test/support/part-of-cases.ts';
import { simulatedLinux, simulatedSpaces } from './backends.ts';

const families = linuxFamilies(simulatedSpaces.pods);

pairSuite(simulatedLinux, selectCases(families));
refusalSuite(simulatedLinux, families, {
  file: 'test/linux/descriptors/transitions.test.ts',
  runs: 60,
});
sequenceSuite(simulatedLinux, poolOf(families.filter((each) => !each.isUnmarked)), {
  file: 'test/linux/descriptors/transitions.test.ts',
  runs: 60,
  steps: 12,
});
