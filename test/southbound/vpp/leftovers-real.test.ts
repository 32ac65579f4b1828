/** Leftovers in a real VPP. */
import { test } from 'node:test';
import { writtenFamilies } from '../transitions/families/vpp.ts';
import { leftoverSuite } from '../transitions/leftovers.ts';
import { realVpp, tellingOfLinks } from './backends.ts';
import { vppLeftovers } from './leftovers.ts';
import { noVppBecause } from './vpp-process.ts';

const reason = noVppBecause();
if (reason === undefined)
  leftoverSuite(async () => {
    const backend = tellingOfLinks(await realVpp());
    return { backend, ...vppLeftovers(backend, 10) };
  }, writtenFamilies);
else test.skip(`leftovers in a real VPP: ${reason}`);
