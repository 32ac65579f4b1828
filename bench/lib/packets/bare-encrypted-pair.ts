/**
 * Two VPPs without agents that encrypt by WireGuard between each other, with the fewest means: a TAP for a pod of each, an uplink,
 * an interface of WireGuard with one peer, and a route.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Netns } from '#test/integration/support/netns.ts';
import { vppIn } from '#test/integration/support/netns-vpp.ts';
import type { VppProcess } from '#test/integration/support/vpp-process.ts';
import { until } from '#test/support/wait.ts';
import { testKeyPair } from '#test/support/wireguard-keys.ts';
import { type EncryptedPair, linkOf } from './encrypted-pair.ts';
import { macOf } from './measured-node.ts';

const PORT = 51_820;
const UPLINK = 'host-uplink';
const MTU = 1440;
const NUMBERS = [1, 2] as const;

export async function startBareEncryptedPair(workers: number): Promise<EncryptedPair> {
  await using made = new AsyncDisposableStack();
  const namespaces: Netns[] = [];
  for (const label of ['bare', 'bare', 'pod', 'pod']) {
    const netns = await Netns.create(label);
    made.defer(() => netns.remove());
    namespaces.push(netns);
  }
  const [left, right, ...pods] = namespaces as [Netns, Netns, Netns, Netns];
  const peer = ['type', 'veth', 'peer', 'name', 'uplink', 'netns', right.path];
  await left.run('ip', 'link', 'add', 'uplink', ...peer);
  const vpps: VppProcess[] = [];
  for (const netns of [left, right]) {
    await netns.run('ip', 'link', 'set', 'uplink', 'up');
    const vpp = vppIn(netns, mkdtempSync(join(tmpdir(), 'bare-')), '', workers);
    made.defer(() => vpp.remove());
    await vpp.start();
    vpps.push(vpp);
  }
  for (const [at, vpp] of vpps.entries())
    for (const command of commandsOf(NUMBERS[at]!, NUMBERS[1 - at]!, pods[at]!))
      await vpp.cli(command);
  const [a, b] = vpps as [VppProcess, VppProcess];
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    const address = `192.168.16.${vpps.indexOf(to) + 1}`;
    await from.cli(`set ip neighbor ${UPLINK} ${address} ${await macOf(to, UPLINK)}`);
  }
  await until('the session is established', async () =>
    (await a.cli('show wireguard peer')).includes('flags: 2'),
  );
  const ends = await Promise.all(
    vpps.map(async (vpp, at) => ({
      vpp,
      podInterface: 'tap0',
      pod: `10.1.${NUMBERS[at]}.2`,
      link: await linkOf(vpp, 'tap0', await macIn(pods[at]!)),
    })),
  );
  const owned = made.move();
  return {
    near: ends[0]!,
    far: ends[1]!,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function commandsOf(own: number, other: number, pod: Netns): readonly string[] {
  const { privateKey } = testKeyPair(`bare ${own}`);
  const { publicKey } = testKeyPair(`bare ${other}`);
  return [
    'create host-interface name uplink',
    `set interface state ${UPLINK} up`,
    `set interface ip address ${UPLINK} 192.168.16.${own}/24`,
    'create loopback interface',
    'set interface state loop0 up',
    `set interface ip address loop0 10.1.${own}.1/24`,
    `create tap id 0 host-ns ${pod.path} host-if-name eth0`,
    'set interface state tap0 up',
    'set interface unnumbered tap0 use loop0',
    `set ip neighbor tap0 10.1.${own}.2 02:00:00:00:00:0${own}`,
    `wireguard create listen-port ${PORT} private-key ${privateKey} src 192.168.16.${own}`,
    `set interface mtu packet ${MTU} wg0`,
    'set interface unnumbered wg0 use loop0',
    'set interface state wg0 up',
    `wireguard peer add wg0 public-key ${publicKey} endpoint 192.168.16.${other} dst-port ${PORT} persistent-keepalive 25 allowed-ip 10.1.${other}.0/24`,
    `ip route add 10.1.${other}.0/24 via 10.1.${other}.1 wg0`,
  ];
}

/** MAC address of the link of a pod. */
async function macIn(pod: Netns): Promise<string> {
  const [link] = JSON.parse(await pod.run('ip', '-json', 'link', 'show', 'dev', 'eth0'));
  return (link as { readonly address: string }).address;
}
