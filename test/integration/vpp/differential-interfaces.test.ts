/**
 * VLANs, memifs, clients of DHCP, cross-connects and proxy ARP: the same random messages to the
 * simulated VPP and a real one.
 */
import { interfaceMessages } from './differential/interface-messages.ts';
import { differentialSuite } from './differential/suite.ts';

differentialSuite(interfaceMessages);
