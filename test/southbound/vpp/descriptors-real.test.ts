/** The descriptors against a real VPP. */
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { vppDescriptors } from '#southbound/vpp/descriptors/vpp-descriptors.ts';
import { FaultyClient } from '../compliance/faulty-client.ts';
import { hostLinkStub } from '../compliance/host-link-stub.ts';
import { type Backend, complianceSuite } from '../compliance/suite.ts';
import { vppExamples } from '../compliance/vpp-examples.ts';
import { vppWorld } from '../compliance/vpp-world.ts';
import { noVppBecause, startVpp } from './vpp-process.ts';

const links = ['host1', 'host2'] as const;

async function realVpp(): Promise<Backend> {
  const vpp = await startVpp();
  const [a, b] = links;
  const inside = (...args: string[]) =>
    execFileSync('nsenter', [`--net=${vpp.namespace}`, ...args]);
  inside('ip', 'link', 'add', a, 'type', 'veth', 'peer', 'name', b);
  const faulty = new FaultyClient(vpp.client);
  return {
    name: 'VPP',
    descriptors: () => [
      ...vppDescriptors({ client: faulty.client, clock: systemClock, log: silentLogger }),
      hostLinkStub,
    ],
    world: () => vppWorld(vpp.client),
    refuse: (n) => faulty.refuse(n),
    cut: (n) => faulty.cut(n),
    get changes() {
      return faulty.changes;
    },
    stop: () => vpp.stop(),
  };
}

const reason = noVppBecause();
if (reason === undefined) complianceSuite(realVpp, vppExamples(links));
else test.skip(`descriptors against a real VPP: ${reason}`);
