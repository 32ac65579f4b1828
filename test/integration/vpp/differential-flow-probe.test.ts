/** Flowprobe: the same random messages to the simulated VPP and a real one. */
import { flowProbeMessages } from './differential/flow-probe-messages.ts';
import { differentialSuite } from './differential/suite.ts';

differentialSuite(flowProbeMessages);
