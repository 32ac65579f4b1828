/** cnat: the same random messages to the simulated VPP and a real one. */
import { cnatMessages } from './differential/cnat-messages.ts';
import { differentialSuite } from './differential/suite.ts';

differentialSuite(cnatMessages);
