/** The simulated VPP against a real one: the same random messages, the same answers and state. */
import { baseMessages } from './differential/base-messages.ts';
import { differentialSuite } from './differential/suite.ts';

differentialSuite(baseMessages);
