/** An agent on a simulated node with the shop of `examples/shop`, and its page. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FakeCluster } from '#demonstration/fake-cluster.ts';
import { FakeKubelet } from '#demonstration/fake-kubelet.ts';
import { systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { contivDefaults } from '#plugins/contivconf/config.ts';
import {
  type AgentOptions,
  makeNode,
  type Node,
  type RunningAgent,
  startAgent,
} from '#test/cmd/agent/harness.ts';

/** Longer than an event takes on a machine with much other work. */
const QUIET_MS = 250;

const manifests = join(import.meta.dirname, '../../../examples/shop');

/** All pods of the shop are attached when it resolves. */
export async function startShop(
  options: AgentOptions = {},
  node: Node = makeNode(),
): Promise<RunningAgent> {
  const cluster = new FakeCluster({
    store: node.cluster,
    manifests,
    nodeNames: ['node1'],
    serviceCidr: contivDefaults.ipamConfig.serviceCIDR,
  });
  const kubelet = new FakeKubelet({
    cluster,
    nodeName: 'node1',
    addNamespace: (path) => node.linux.addNamespace(path),
    random: systemRandom,
    log: silentLogger,
  });
  await cluster.fillStore();
  const running = await startAgent(node, options);
  await kubelet.startPods(running.socket);
  await untilSettled(running);
  return running;
}

/** The writes of the kubelet return as events: waits until none has arrived for a moment. */
export async function untilSettled({ agent: { controller } }: RunningAgent): Promise<void> {
  for (let seen = -1; !controller.isIdle || seen !== controller.eventCount; ) {
    seen = controller.eventCount;
    await sleep(QUIET_MS);
  }
}
