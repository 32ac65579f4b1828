/** NAT44, ACLs and redirects of a real VPP. */
import { test } from 'node:test';
import { servicesSuite } from '../compliance/services-suite.ts';
import { realVpp } from './backends.ts';
import { noVppBecause } from './vpp-process.ts';

const reason = noVppBecause();
if (reason === undefined) servicesSuite(realVpp);
else test.skip(`services of a real VPP: ${reason}`);
