/** Orphans in a simulated kernel. */
import { orphanSuite } from '#test/descriptors/transitions/orphans.ts';
import { simulatedLinux, simulatedSpaces } from './backends.ts';
import { familiesWithOrphans, linuxOrphans } from './orphans.ts';

orphanSuite(async () => {
  const backend = await simulatedLinux();
  return { backend, ...linuxOrphans(backend, 60) };
}, familiesWithOrphans(simulatedSpaces));
