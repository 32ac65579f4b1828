/** TAPs and what is configured on them: the same random messages to the simulated VPP and a real one. */
import { withoutVhostNet } from '#test/support/requirements.ts';
import { differentialSuite } from './differential/suite.ts';
import { tapMessages } from './differential/tap-messages.ts';

differentialSuite(tapMessages, withoutVhostNet());
