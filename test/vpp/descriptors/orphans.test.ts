/** Leftovers in a simulated VPP. */
import { writtenFamilies } from '#test/descriptors/transitions/families/vpp.ts';
import { leftoverSuite } from '#test/descriptors/transitions/orphans.ts';
import { simulatedVpp, tellingOfLinks } from './backends.ts';
import { vppLeftovers } from './orphans.ts';

leftoverSuite(async () => {
  const backend = tellingOfLinks(await simulatedVpp());
  return { backend, ...vppLeftovers(backend, 40) };
}, writtenFamilies);
