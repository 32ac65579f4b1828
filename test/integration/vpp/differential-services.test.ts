/** NAT44, ACLs and redirects: the same random messages to the simulated VPP and a real one. */
import { serviceMessages } from './differential/service-messages.ts';
import { differentialSuite } from './differential/suite.ts';

differentialSuite(serviceMessages);
