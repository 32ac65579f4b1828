/** The descriptors of VPP on the simulated one. */
import { nicSuite } from '#test/descriptors/compliance/nic-suite.ts';
import { complianceSuite } from '#test/descriptors/compliance/suite.ts';
import { vppExamples } from '#test/descriptors/compliance/vpp-examples.ts';
import { vppMovesSuite } from '#test/descriptors/compliance/vpp-moves.ts';
import type { SharedVpp } from '#test/descriptors/compliance/vpp-owner.ts';
import { vppOwnershipSuite } from '#test/descriptors/compliance/vpp-ownership.ts';
import { hostLinks, simulatedVpp, simWithLinks } from './backends.ts';

complianceSuite(simulatedVpp, vppExamples(hostLinks));

async function sharedVpp(): Promise<SharedVpp> {
  const { client, stop } = await simWithLinks();
  return { client, hostLink: hostLinks[0], stop };
}

vppOwnershipSuite(sharedVpp, { shell: false });
vppMovesSuite(sharedVpp);
nicSuite(sharedVpp);
