/** Ownership of the descriptors on a real VPP. */
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { nicSuite } from '#test/descriptors/compliance/nic-suite.ts';
import { ownershipSuite } from '#test/descriptors/compliance/ownership-suite.ts';
import { reassignmentSuite } from '#test/descriptors/compliance/reassignment-suite.ts';
import type { SharedVpp } from '#test/descriptors/compliance/shared-vpp-agent.ts';
import { noVppBecause, startVpp } from '../support/vpp-descriptors.ts';

async function realVpp(): Promise<SharedVpp> {
  const { client, namespace, stop } = await startVpp();
  const hostLink = 'host1';
  const pair = ['ip', 'link', 'add', hostLink, 'type', 'veth', 'peer', 'name', 'host2'];
  execFileSync('nsenter', [`--net=${namespace}`, ...pair]);
  return { client, hostLink, stop };
}

const reason = noVppBecause();
if (reason === undefined) {
  ownershipSuite(realVpp, { shell: true });
  reassignmentSuite(realVpp);
  nicSuite(realVpp);
} else test.skip(`ownership on a real VPP: ${reason}`);
