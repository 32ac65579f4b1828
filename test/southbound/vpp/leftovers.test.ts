/** Leftovers in a simulated VPP. */
import { writtenFamilies } from '../transitions/families/vpp.ts';
import { leftoverSuite } from '../transitions/leftovers.ts';
import { simulatedVpp, tellingOfLinks } from './backends.ts';
import { vppLeftovers } from './leftovers.ts';

leftoverSuite(async () => {
  const backend = tellingOfLinks(await simulatedVpp());
  return { backend, ...vppLeftovers(backend, 40) };
}, writtenFamilies);
