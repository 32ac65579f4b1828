/** Two nodes with agents that encrypt between each other. */
import { RealServiceCluster } from '#test/integration/support/service-cluster.ts';
import { pod } from '#test/plugins/policy/policy-objects.ts';
import { connectBoth } from '#test/services/compliance/connect.ts';
import type { NodeName } from '#test/services/service-cluster.ts';
import { type EncryptedPair, linkOf } from './encrypted-pair.ts';
import { neighborOf } from './measured-node.ts';

const nodes = { a: 'node1', x: 'node2' } as const;

export async function startOurEncryptedPair(workers: number): Promise<EncryptedPair> {
  const cluster = await RealServiceCluster.start({
    family: 4,
    workers,
    sockets: true,
    contiv: { nodeToNodeTransport: 'wireguard' },
  });
  const start = (name: string, node: NodeName) => {
    const record = pod({ name, namespace: 'default', labels: { app: name } });
    return cluster.startPod(name, node, [8080], record);
  };
  for (const [name, node] of Object.entries(nodes)) await start(name, node);
  // VPP asks for its neighbors when it has packets for them
  await connectBoth(cluster, { pod: 'a' }, cluster.addressOf({ pod: 'x' }), 8080);
  await connectBoth(cluster, { pod: 'x' }, cluster.addressOf({ pod: 'a' }), 8080);
  const endOf = async (name: keyof typeof nodes) => {
    const vpp = cluster.vppOf(nodes[name]);
    const address = cluster.addressOf({ pod: name });
    const { interface: podInterface, mac } = await neighborOf(vpp, address);
    return { vpp, podInterface, pod: address, link: await linkOf(vpp, podInterface, mac) };
  };
  return {
    near: await endOf('a'),
    far: await endOf('x'),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}
