/** The descriptors of VPP on the simulated one. */
import { complianceSuite } from '../compliance/suite.ts';
import { vppExamples } from '../compliance/vpp-examples.ts';
import { vppOwnershipSuite } from '../compliance/vpp-ownership.ts';
import { hostLinks, simulatedVpp, simWithLinks } from './backends.ts';

complianceSuite(simulatedVpp, vppExamples(hostLinks));

vppOwnershipSuite(
  async () => {
    const { client, stop } = await simWithLinks();
    return { client, hostLink: hostLinks[0], stop };
  },
  { shell: false },
);
