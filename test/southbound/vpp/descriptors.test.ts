/** The descriptors of VPP on the simulated one. */
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { vppDescriptors } from '#southbound/vpp/descriptors/vpp-descriptors.ts';
import { FaultyClient } from '../compliance/faulty-client.ts';
import { hostLinkStub } from '../compliance/host-link-stub.ts';
import { complianceSuite } from '../compliance/suite.ts';
import { vppExamples } from '../compliance/vpp-examples.ts';
import { vppOwnershipSuite } from '../compliance/vpp-ownership.ts';
import { vppWorld } from '../compliance/vpp-world.ts';
import { type RunningSim, startSim } from './sim-vpp.ts';

const links = ['host1', 'host2'] as const;

async function simulated(): Promise<RunningSim> {
  const sim = await startSim();
  const [a, b] = links;
  await sim.linux.createVeth({ namespace: undefined, name: a }, { namespace: undefined, name: b });
  return sim;
}

complianceSuite(async () => {
  const sim = await simulated();
  const faulty = new FaultyClient(sim.client);
  return {
    name: 'simulation',
    descriptors: () => [
      ...vppDescriptors({ client: faulty.client, clock: systemClock, log: silentLogger }),
      hostLinkStub,
    ],
    world: () => vppWorld(sim.client),
    refuse: (n) => faulty.refuse(n),
    cut: (n) => faulty.cut(n),
    get changes() {
      return faulty.changes;
    },
    stop: () => sim.stop(),
  };
}, vppExamples(links));

vppOwnershipSuite(
  async () => {
    const { client, stop } = await simulated();
    return { client, hostLink: links[0], stop };
  },
  { shell: false },
);
