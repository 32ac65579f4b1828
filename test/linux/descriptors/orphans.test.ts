/** Orphans in a simulated kernel. */
import { orphanSuite } from '#test/descriptors/transitions/orphans.ts';
import { simulatedLinux, simulatedSpaces } from './backends.ts';
import { familiesWithOrphans, linuxLeftovers } from './orphans.ts';

orphanSuite(async () => {
  const backend = await simulatedLinux();
  return { backend, ...linuxLeftovers(backend, 60) };
}, familiesWithOrphans(simulatedSpaces));
