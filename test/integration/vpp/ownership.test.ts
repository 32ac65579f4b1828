/** Ownership of the descriptors on a real VPP. */
import { execFileSync } from 'node:child_process';
import { hiddenRouteSuite } from '#test/descriptors/compliance/hidden-route-suite.ts';
import { nameSuite } from '#test/descriptors/compliance/name-suite.ts';
import { neighborSuite } from '#test/descriptors/compliance/neighbor-suite.ts';
import { nicSuite } from '#test/descriptors/compliance/nic-suite.ts';
import { ownershipSuite } from '#test/descriptors/compliance/ownership-suite.ts';
import { reassignmentSuite } from '#test/descriptors/compliance/reassignment-suite.ts';
import type { SharedVpp } from '#test/descriptors/compliance/shared-vpp-agent.ts';
import { declareUnless, withoutIsolatedVpp, withoutVhostNet } from '#test/support/requirements.ts';
import { startIsolatedVpp } from '../support/vpp-process.ts';

async function realVpp(): Promise<SharedVpp> {
  const { client, namespace, stop } = await startIsolatedVpp();
  const hostLink = 'host1';
  const pair = ['ip', 'link', 'add', hostLink, 'type', 'veth', 'peer', 'name', 'host2'];
  execFileSync('nsenter', [`--net=${namespace}`, ...pair]);
  return { client, hostLink, stop };
}

await declareUnless(withoutIsolatedVpp(), 'ownership on a real VPP', () => {
  ownershipSuite(realVpp, { shell: true });
  reassignmentSuite(realVpp);
  hiddenRouteSuite(realVpp);
  neighborSuite(realVpp);
  nicSuite(realVpp);
  nameSuite(realVpp, { withoutTaps: withoutVhostNet() });
});
