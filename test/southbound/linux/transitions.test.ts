/** Values of a simulated kernel from any of their configurations to any other, and many at once. */
import { linuxFamilies } from '../transitions/families/linux.ts';
import { pairSuite } from '../transitions/pairs.ts';
import { poolOf, sequenceSuite } from '../transitions/sequences.ts';
import { simulatedLinux, simulatedSpaces } from './backends.ts';

const families = linuxFamilies(simulatedSpaces.pods);

pairSuite(simulatedLinux, families);
sequenceSuite(simulatedLinux, poolOf(families.filter((each) => !each.bearsNoMark)), {
  runs: Number(process.env['CV_SEQUENCES'] ?? 60),
  steps: 12,
});
