/** NAT44, ACLs and redirects of a real VPP. */
import { test } from 'node:test';
import { aclSuite } from '#test/descriptors/compliance/acl-suite.ts';
import { dnatSuite } from '#test/descriptors/compliance/dnat-suite.ts';
import { nat44Suite } from '#test/descriptors/compliance/nat44-suite.ts';
import { puntSuite } from '#test/descriptors/compliance/punt-suite.ts';
import { realVpp } from '#test/vpp/descriptors/backends.ts';
import { noVppBecause } from '../support/vpp-descriptors.ts';

const reason = noVppBecause();
if (reason === undefined)
  for (const suite of [nat44Suite, dnatSuite, aclSuite, puntSuite]) suite(realVpp);
else test.skip(`services of a real VPP: ${reason}`);
