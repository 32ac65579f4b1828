/**
 * A VPP without an agent that forwards the same packets with the fewest means: a TAP for each of two pods, an uplink, a
 * tunnel in a bridge domain to another node, and routes. No NAT, no ACL, one table.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Netns } from '#test/integration/support/netns.ts';
import { vppIn } from '#test/integration/support/netns-vpp.ts';
import { type MeasuredNode, macOf } from './measured-node.ts';

const VNI = 10;
const UPLINK = 'host-uplink';
const REMOTE_BVI = '12:2b:00:00:00:02';
const OUTSIDE = '02:00:00:00:00:c8';
const OTHER_NODE = '02:00:00:00:00:02';

interface Addresses {
  readonly length: number;
  readonly lengthOfOne: number;
  readonly gateway: string;
  readonly pods: readonly [string, string];
  readonly remotePod: string;
  readonly remotePods: string;
  readonly bvi: string;
  readonly remoteBvi: string;
  readonly node: string;
  readonly otherNode: string;
  readonly outside: string;
}

const addresses: Readonly<Record<4 | 6, Addresses>> = {
  4: {
    length: 24,
    lengthOfOne: 32,
    gateway: '10.1.1.1',
    pods: ['10.1.1.2', '10.1.1.3'],
    remotePod: '10.1.2.2',
    remotePods: '10.1.2.0/24',
    bvi: '192.168.30.1',
    remoteBvi: '192.168.30.2',
    node: '192.168.16.1',
    otherNode: '192.168.16.2',
    outside: '192.168.16.200',
  },
  6: {
    length: 64,
    lengthOfOne: 128,
    gateway: 'fd01:0:0:1::1',
    pods: ['fd01:0:0:1::2', 'fd01:0:0:1::3'],
    remotePod: 'fd01:0:0:2::2',
    remotePods: 'fd01:0:0:2::/64',
    bvi: 'fd04::1',
    remoteBvi: 'fd04::2',
    node: 'fd16::1',
    otherNode: 'fd16::2',
    outside: 'fd16::200',
  },
};

export async function startBareNode(family: 4 | 6, workers: number): Promise<MeasuredNode> {
  await using made = new AsyncDisposableStack();
  const namespace = async (label: string) => {
    const netns = await Netns.create(label);
    made.defer(() => netns.remove());
    return netns;
  };
  const [netns, middle, a, b] = [
    await namespace('bare'),
    await namespace('middle'),
    await namespace('pod'),
    await namespace('pod'),
  ];
  const pods = [a, b] as const;
  const peer = ['type', 'veth', 'peer', 'name', 'uplink', 'netns', netns.path];
  await middle.run('ip', 'link', 'add', 'under', ...peer);
  await middle.run('ip', 'link', 'set', 'under', 'up');
  await netns.run('ip', 'link', 'set', 'uplink', 'up');
  const vpp = vppIn(netns, mkdtempSync(join(tmpdir(), 'bare-')), '', workers);
  made.defer(() => vpp.remove());
  await vpp.start();

  const all = addresses[family];
  const { length, lengthOfOne, gateway, node, otherNode, bvi, remoteBvi } = all;
  const commands = [
    'create host-interface name uplink',
    `set interface state ${UPLINK} up`,
    `set interface ip address ${UPLINK} ${node}/${length}`,
    `set ip neighbor ${UPLINK} ${all.outside} ${OUTSIDE}`,
    `set ip neighbor ${UPLINK} ${otherNode} ${OTHER_NODE}`,
    'create loopback interface',
    'set interface state loop0 up',
    `set interface ip address loop0 ${gateway}/${length}`,
    'create loopback interface',
    'set interface state loop1 up',
    `create vxlan tunnel src ${node} dst ${otherNode} vni ${VNI}`,
    'create bridge-domain 1 learn 0',
    'set interface l2 bridge loop1 1 bvi',
    'set interface l2 bridge vxlan_tunnel0 1 1',
    `l2fib add ${REMOTE_BVI} 1 vxlan_tunnel0 static`,
    `set interface ip address loop1 ${bvi}/${length}`,
    `set ip neighbor loop1 ${remoteBvi} ${REMOTE_BVI}`,
    `ip route add ${all.remotePods} via ${remoteBvi} loop1`,
  ];
  for (const command of commands) await vpp.cli(command);
  const links = [];
  for (const [n, pod] of pods.entries()) {
    const tap = `tap${n}`;
    const address = all.pods[n]!;
    await vpp.cli(`create tap id ${n} host-ns ${pod.path} host-if-name eth0 gso`);
    await vpp.cli(`set interface state ${tap} up`);
    await vpp.cli(`set interface unnumbered ${tap} use loop0`);
    const nodad = family === 6 ? ['nodad'] : [];
    await pod.run('ip', 'address', 'add', `${address}/${lengthOfOne}`, 'dev', 'eth0', ...nodad);
    await pod.run('ip', 'link', 'set', 'eth0', 'up');
    const sourceMac = await macIn(pod);
    const destinationMac = await macOf(vpp, tap);
    await pod.run('ip', 'neighbor', 'add', gateway, 'lladdr', destinationMac, 'dev', 'eth0');
    await pod.run('ip', 'route', 'add', `${gateway}/${lengthOfOne}`, 'dev', 'eth0');
    await pod.run('ip', 'route', 'add', 'default', 'via', gateway, 'dev', 'eth0');
    await vpp.cli(`set ip neighbor ${tap} ${address} ${sourceMac}`);
    links.push({ sourceMac, destinationMac });
  }
  const uplinkMac = await macOf(vpp, UPLINK);
  const owned = made.move();
  return {
    vpp,
    ends: {
      podInterface: 'tap0',
      uplink: UPLINK,
      fromPod: links[0]!,
      fromOutside: { sourceMac: OUTSIDE, destinationMac: uplinkMac },
      fromOtherNode: { sourceMac: REMOTE_BVI, destinationMac: await macOf(vpp, 'loop1') },
      vni: VNI,
      pod: all.pods[0],
      otherPod: all.pods[1],
      remotePod: all.remotePod,
      outside: all.outside,
      node,
      otherNode,
    },
    pod: a,
    otherPod: b,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** MAC address of the link of a pod. */
async function macIn(pod: Netns): Promise<string> {
  const [link] = JSON.parse(await pod.run('ip', '-json', 'link', 'show', 'dev', 'eth0'));
  return (link as { readonly address: string }).address;
}
