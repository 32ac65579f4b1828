/** The descriptors of VPP on the simulated one. */
import { hiddenRouteSuite } from '#test/descriptors/compliance/hidden-route-suite.ts';
import { nameSuite } from '#test/descriptors/compliance/name-suite.ts';
import { neighborSuite } from '#test/descriptors/compliance/neighbor-suite.ts';
import { nicSuite } from '#test/descriptors/compliance/nic-suite.ts';
import { ownershipSuite } from '#test/descriptors/compliance/ownership-suite.ts';
import { reassignmentSuite } from '#test/descriptors/compliance/reassignment-suite.ts';
import {
  repeatedResyncSuite,
  sharingVppValues,
} from '#test/descriptors/compliance/repeated-resync-suite.ts';
import type { SharedVpp } from '#test/descriptors/compliance/shared-vpp-agent.ts';
import { complianceSuite } from '#test/descriptors/compliance/suite.ts';
import { vppExamples } from '#test/descriptors/compliance/vpp-examples.ts';
import { hostLinks, simulatedVpp, simulatedVppWithLinks } from './backends.ts';

complianceSuite(simulatedVpp, vppExamples(hostLinks));
repeatedResyncSuite(simulatedVpp, sharingVppValues);

async function sharedVpp(): Promise<SharedVpp> {
  const { client, stop } = await simulatedVppWithLinks();
  return { client, hostLink: hostLinks[0], stop };
}

ownershipSuite(sharedVpp, { shell: false });
reassignmentSuite(sharedVpp);
hiddenRouteSuite(sharedVpp);
neighborSuite(sharedVpp);
nicSuite(sharedVpp);
nameSuite(sharedVpp);
