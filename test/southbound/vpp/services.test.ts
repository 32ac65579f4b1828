/** NAT44, ACLs and redirects of a simulated VPP. */
import { aclSuite } from '../compliance/acl-suite.ts';
import { dnatSuite } from '../compliance/dnat-suite.ts';
import { nat44Suite } from '../compliance/nat44-suite.ts';
import { puntSuite } from '../compliance/punt-suite.ts';
import { simulatedVpp } from './backends.ts';

for (const suite of [nat44Suite, dnatSuite, aclSuite, puntSuite]) suite(() => simulatedVpp());
