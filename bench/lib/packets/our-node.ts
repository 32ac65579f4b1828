/** A node of two with agents: its wiring is what the agent has made. */
import { RealServiceCluster } from '#test/integration/support/service-cluster.ts';
import type { VppProcess } from '#test/integration/support/vpp-process.ts';
import { pod } from '#test/plugins/policy/policy-objects.ts';
import { connectBoth } from '#test/services/compliance/connect.ts';
import type { NodeName } from '#test/services/service-cluster.ts';
import { type MeasuredNode, macOf, neighborOf } from './measured-node.ts';

export interface OurNode extends MeasuredNode {
  readonly cluster: RealServiceCluster;
}

const UPLINK = 'host-uplink';

export async function startOurNode(family: 4 | 6, workers: number): Promise<OurNode> {
  const sockets = family === 4;
  const cluster = await RealServiceCluster.start({ sockets, family, workers });
  const start = (name: string, node: NodeName) => {
    const record = pod({ name, namespace: 'default', labels: { app: name } });
    return cluster.startPod(name, node, [8080], record);
  };
  for (const name of ['a', 'b']) await start(name, 'node1');
  await start('x', 'node2');
  // VPP asks for its neighbors when it has packets for them
  for (const to of [{ pod: 'b' }, { pod: 'x' }, { host: 'node1' }] as const)
    await connectBoth(cluster, { pod: 'a' }, cluster.addressOf(to), 8080);
  await connectBoth(cluster, 'outside', cluster.addressOf({ pod: 'a' }), 8080);
  await connectBoth(cluster, 'outside', cluster.addressOf({ pod: 'b' }), 8080);
  const vpp = cluster.vppOf('node1');
  const [sender, otherPod, remotePod] = ['a', 'b', 'x'].map((name) =>
    cluster.addressOf({ pod: name }),
  );
  const outside = cluster.addressOf('outside');
  const link = await neighborOf(vpp, sender!);
  const podMac = link.mac;
  const [bvi, otherBvi] = [await bviOf(vpp), await bviOf(cluster.vppOf('node2'))];
  const uplinkMac = await macOf(vpp, UPLINK);
  return {
    cluster,
    vpp,
    ends: {
      podInterface: link.interface,
      uplink: UPLINK,
      fromPod: { sourceMac: podMac, destinationMac: await macOf(vpp, link.interface) },
      fromOutside: { sourceMac: (await neighborOf(vpp, outside)).mac, destinationMac: uplinkMac },
      fromOtherNode: { sourceMac: otherBvi, destinationMac: bvi },
      vni: await vniOf(vpp),
      pod: sender!,
      otherPod: otherPod!,
      remotePod: remotePod!,
      outside,
      node: cluster.vppAddressOf('node1'),
      otherNode: cluster.vppAddressOf('node2'),
    },
    pod: cluster.sandboxOf('a'),
    otherPod: cluster.sandboxOf('b'),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

/** The routed interface of the bridge domain of the tunnels. */
async function bviOf(vpp: VppProcess): Promise<string> {
  const text = await vpp.cli('show interface addr');
  const name = /(\S+) \(up\):\s+L2 bridge [^\n]* bvi/.exec(text)?.[1];
  if (name === undefined) throw new Error(`VPP has no routed interface of a bridge: ${text}`);
  return macOf(vpp, name);
}

async function vniOf(vpp: VppProcess): Promise<number> {
  return Number(/ vni (\d+)/.exec(await vpp.cli('show vxlan tunnel'))?.[1]);
}
