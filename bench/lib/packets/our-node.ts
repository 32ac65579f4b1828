/** A node of two with agents: its wiring is what the agent has made. */
import { RealServiceCluster } from '#test/integration/support/service-cluster.ts';
import type { VppProcess } from '#test/integration/support/vpp-process.ts';
import { connectBoth } from '#test/services/compliance/connect.ts';
import { type MeasuredNode, macOf, neighborOf } from './measured-node.ts';

export interface OurNode extends MeasuredNode {
  readonly cluster: RealServiceCluster;
}

const UPLINK = 'host-uplink';

export async function startOurNode(family: 4 | 6, workers: number): Promise<OurNode> {
  const sockets = family === 4;
  const cluster = await RealServiceCluster.start({ sockets, family, workers });
  for (const pod of ['a', 'b']) await cluster.startPod(pod, 'node1', [8080]);
  await cluster.startPod('x', 'node2', [8080]);
  // VPP asks for its neighbors when it has packets for them
  for (const to of [{ pod: 'b' }, { pod: 'x' }, { host: 'node1' }] as const)
    await connectBoth(cluster, { pod: 'a' }, cluster.addressOf(to), 8080);
  await connectBoth(cluster, 'outside', cluster.addressOf({ pod: 'a' }), 8080);
  await connectBoth(cluster, 'outside', cluster.addressOf({ pod: 'b' }), 8080);
  const vpp = cluster.vppOf('node1');
  const [pod, otherPod, remotePod] = ['a', 'b', 'x'].map((name) =>
    cluster.addressOf({ pod: name }),
  );
  const outside = cluster.addressOf('outside');
  const link = await neighborOf(vpp, pod!);
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
      pod: pod!,
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
