/** The cluster of the examples, with its services and policies. */
import { resolve } from 'node:path';
import { FakeCluster } from '#demonstration/fake-cluster.ts';
import { FakeKubelet } from '#demonstration/fake-kubelet.ts';
import { seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { makeMachine, RecordedAgent } from '../record.ts';
import type { Recording } from '../recording.ts';

const examplesFolder = resolve(import.meta.dirname, '../../../examples/shop');

export async function shop(recording: Recording): Promise<void> {
  const machine = await makeMachine({ nics: false });
  const agent = new RecordedAgent(machine, recording, 'agent');
  const cluster = new FakeCluster({
    store: machine.cluster,
    manifests: examplesFolder,
    nodeNames: ['node1'],
    serviceCidr: '10.96.0.0/12',
  });
  const kubelet = new FakeKubelet({
    cluster,
    nodeName: 'node1',
    addNamespace: (path) => machine.linux.addNamespace(path),
    random: seededRandom(3),
    log: silentLogger,
  });
  await cluster.fillStore();
  await agent.start();
  await agent.step('pods', async () => {
    for (const { name, address } of await kubelet.startPods(agent.cniSocket))
      recording.add('pods', `${name} ${address ?? 'not attached'}`);
  });
  await agent.step('a while later', () => undefined, 10_000);
  await agent.everything();
  await agent.finalState();
  await agent.stop();
}
