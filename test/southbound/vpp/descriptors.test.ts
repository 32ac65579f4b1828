/** The descriptors of VPP on the simulated one. */
import { nicSuite } from '../compliance/nic-suite.ts';
import { complianceSuite } from '../compliance/suite.ts';
import { vppExamples } from '../compliance/vpp-examples.ts';
import { vppMovesSuite } from '../compliance/vpp-moves.ts';
import type { SharedVpp } from '../compliance/vpp-owner.ts';
import { vppOwnershipSuite } from '../compliance/vpp-ownership.ts';
import { hostLinks, simulatedVpp, simWithLinks } from './backends.ts';

complianceSuite(simulatedVpp, vppExamples(hostLinks));

async function sharedVpp(): Promise<SharedVpp> {
  const { client, stop } = await simWithLinks();
  return { client, hostLink: hostLinks[0], stop };
}

vppOwnershipSuite(sharedVpp, { shell: false });
vppMovesSuite(sharedVpp);
nicSuite(sharedVpp);
