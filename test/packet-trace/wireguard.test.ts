/** Packets that VPP encrypts for another node, and what the other node accepts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { type WireguardPeer, wireguardPeerModel } from '#models/vpp/wireguard-peer.ts';
import { clusterSnapshot } from '#packet-trace/cluster.ts';
import type { NodeValues } from '#packet-trace/node.ts';
import { tracePacket } from '#packet-trace/tracer.ts';
import { keyedValue, loop } from '#test/descriptors/compliance/example-values.ts';
import { testKeyPair } from '#test/support/wireguard-keys.ts';
import { verdict } from './snapshot-builder.ts';

const key = (node: number) => testKeyPair(`node ${node}`).publicKey;

/** A node with one peer. */
function node(own: number, other: number, change: Partial<WireguardPeer> = {}): NodeValues {
  const values = [
    loop('pods', { enabled: true, ip_addresses: [`10.1.${own}.1/24`] }),
    keyedValue(vppInterfaceModel, {
      name: 'uplink',
      type: 'DPDK',
      enabled: true,
      ip_addresses: [`192.168.16.${own}/24`],
    }),
    keyedValue(vppInterfaceModel, {
      name: 'wireguard0',
      type: 'WIREGUARD_TUNNEL',
      enabled: true,
      unnumbered: { interface_with_ip: 'pods' },
      wireguard: { src_addr: `192.168.16.${own}`, port: 51_820, public_key: key(own) },
    }),
    keyedValue(vppRouteModel, {
      dst_network: `10.1.${other}.0/24`,
      next_hop_addr: `10.1.${other}.1`,
      outgoing_interface: 'wireguard0',
    }),
    keyedValue(wireguardPeerModel, {
      wg_if_name: 'wireguard0',
      public_key: key(other),
      endpoint: `192.168.16.${other}`,
      port: 51_820,
      allowed_ips: [`10.1.${other}.0/24`],
      ...change,
    }),
  ];
  return {
    name: `node-${own}`,
    values: values.map((one) => [one.key, one.value] as const),
    hostAddresses: [],
  };
}

const packet = { source: '10.1.1.1', destination: '10.1.2.1' };

function traced(first: NodeValues, second: NodeValues) {
  return tracePacket(clusterSnapshot({ nodes: [first, second] }), 'node-1/vpp', packet);
}

test('a packet is encrypted to a node, which decrypts it', () => {
  const found = traced(node(1, 2), node(2, 1));
  assert.deepEqual(
    found.hops.map(({ device, description }) => `${device}: ${description}`),
    [
      'node-1/vpp: route 10.1.2.0/24 of table 0 leads to 10.1.2.1 on wireguard0',
      'node-1/vpp: encrypted to node-2 by wireguard0, to 192.168.16.2',
      'node-1/vpp: route 192.168.16.1/24 of table 0 leads to 192.168.16.2 on uplink',
      'node-2/vpp: enters by uplink',
      'node-2/vpp: WireGuard from 192.168.16.1 is decrypted by wireguard0',
      'node-2/vpp: enters by wireguard0',
      'node-2/vpp: delivered: 10.1.2.1 is local on pods',
    ],
  );
  assert.equal(found.verdict, 'delivered');
});

test('the other node drops what it has no key or no permission for', () => {
  const cases: readonly (readonly [NodeValues, RegExp])[] = [
    [node(2, 1, { public_key: key(9) }), /has a key of no peer of wireguard0/],
    [node(2, 1, { allowed_ips: ['10.1.7.0/24'] }), /the source 10\.1\.1\.1 is not allowed/],
    [node(3, 1), /no device behind uplink has 192\.168\.16\.2/],
  ];
  for (const [second, expected] of cases) {
    const found = traced(node(1, 2), second);
    if (found.verdict !== 'left') assert.match(verdict(found), expected);
  }
});

test('a next hop of no peer, and a key that the other node gave up', () => {
  const none = traced(node(1, 2, { allowed_ips: ['10.1.7.0/24'] }), node(2, 1));
  assert.match(verdict(none), /no peer of wireguard0 has 10\.1\.2\.1/);
  const old = traced(node(1, 2, { public_key: key(8) }), node(2, 1));
  assert.match(verdict(old), /is for a key of no interface/);
  assert.match(
    old.hops.map(({ description }) => description).join('\n'),
    /encrypted to 192\.168\.16\.2/,
  );
});

test('a node without a session: no route leads to it, or one that drops what the other routes do not take', () => {
  const second = node(2, 1);
  const { values, ...first } = node(1, 2);
  const withoutRoute = [...values].filter(([one]) => !one.includes('dst/10.1.2.0'));
  const dropping = keyedValue(vppRouteModel, { dst_network: '10.1.0.0/16', type: 'DROP' });
  const table = [...withoutRoute, [dropping.key, dropping.value] as const];
  for (const own of [withoutRoute, table])
    assert.equal(
      verdict(traced({ ...first, values: own }, second)),
      'dropped: dropped: no session of WireGuard with node-2 is established',
    );
  const elsewhere = { source: '10.1.1.1', destination: '10.1.5.1' };
  const nodes = [{ ...first, values: table }, second];
  const found = tracePacket(clusterSnapshot({ nodes }), 'node-1/vpp', elsewhere);
  assert.match(verdict(found), /dropped: route 10\.1\.0\.0\/16 of table 0 drops$/);
});
