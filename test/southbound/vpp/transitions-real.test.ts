/** Values of a real VPP from any of their configurations to any other. */
import { test } from 'node:test';
import { vppFamilies } from '../transitions/families/vpp.ts';
import { pairSuite } from '../transitions/pairs.ts';
import { realVpp, tellingOfLinks } from './backends.ts';
import { noVppBecause } from './vpp-process.ts';

const reason = noVppBecause();
if (reason === undefined) pairSuite(async () => tellingOfLinks(await realVpp()), vppFamilies);
else test.skip(`changes of values of a real VPP: ${reason}`);
