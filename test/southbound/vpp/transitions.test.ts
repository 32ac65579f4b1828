/** Values of a simulated VPP from any of their configurations to any other. */
import { vppFamilies } from '../transitions/families/vpp.ts';
import { pairSuite } from '../transitions/pairs.ts';
import { simulatedVpp, tellingOfLinks } from './backends.ts';

pairSuite(async () => tellingOfLinks(await simulatedVpp()), vppFamilies);
