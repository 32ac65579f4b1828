/** NAT44, ACLs and redirects of a real VPP. */
import { test } from 'node:test';
import { aclSuite } from '../compliance/acl-suite.ts';
import { dnatSuite } from '../compliance/dnat-suite.ts';
import { nat44Suite } from '../compliance/nat44-suite.ts';
import { puntSuite } from '../compliance/punt-suite.ts';
import { realVpp } from './backends.ts';
import { noVppBecause } from './vpp-process.ts';

const reason = noVppBecause();
if (reason === undefined)
  for (const suite of [nat44Suite, dnatSuite, aclSuite, puntSuite]) suite(realVpp);
else test.skip(`services of a real VPP: ${reason}`);
