/** NAT44, ACLs and redirects of a real VPP. */
import { aclSuite } from '#test/descriptors/compliance/acl-suite.ts';
import { dnatSuite } from '#test/descriptors/compliance/dnat-suite.ts';
import { nat44Suite } from '#test/descriptors/compliance/nat44-suite.ts';
import { puntSuite } from '#test/descriptors/compliance/punt-suite.ts';
import { declareUnless, withoutIsolatedVpp } from '#test/support/requirements.ts';
import { realVpp } from '../support/vpp-backend.ts';

await declareUnless(withoutIsolatedVpp(), 'services of a real VPP', () => {
  for (const suite of [nat44Suite, dnatSuite, aclSuite, puntSuite]) suite(realVpp);
});
