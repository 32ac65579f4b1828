/** Traces of clients outside at a NIC of a host, and of the replies to them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { linuxInterfaceModel } from '#models/linux/interface.ts';
import { serviceLinkModel } from '#models/linux/service-link.ts';
import { socketNodeAddressModel } from '#models/linux/socket-node-address.ts';
import { socketServiceModel } from '#models/linux/socket-service.ts';
import type { AnyModel } from '#models/model.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { nodeTopology } from '#packet-trace/node.ts';
import type { Packet } from '#packet-trace/packet.ts';
import type { Snapshot } from '#packet-trace/snapshot.ts';
import { tracePacket } from '#packet-trace/tracer.ts';
import { device, iface } from './snapshot-builder.ts';

const HOST = '172.16.0.1';
const OTHER_HOST = '172.16.0.2';
const CLIENT = '172.16.0.200';
const NODE_PORT = 30_080;

function value(model: AnyModel, given: object): [string, unknown] {
  const whole = model.parse(given, 'test');
  return [model.key(whole as never), whole];
}

const frontend = (scope: 'THIS_NODE' | 'OTHER_NODES', port: number) => ({
  address: '0.0.0.0',
  port,
  protocol: 'TCP',
  scope,
});

const values = [
  value(vppInterfaceModel, {
    name: 'tap-vpp2',
    type: 'TAP',
    enabled: true,
    ip_addresses: ['172.30.1.1/24'],
  }),
  value(vppRouteModel, {
    dst_network: '172.16.0.0/24',
    next_hop_addr: '172.30.1.2',
    outgoing_interface: 'tap-vpp2',
  }),
  value(linuxInterfaceModel, {
    name: 'tap-vpp1',
    type: 'TAP_TO_VPP',
    enabled: true,
    host_if_name: 'vpp1',
    ip_addresses: ['172.30.1.2/24'],
    tap: { vpp_tap_if_name: 'tap-vpp2' },
  }),
  value(serviceLinkModel, { host_if_name: 'eth0', vpp_link: 'vpp1', gw_addr: '172.30.1.1' }),
  value(serviceLinkModel, { host_if_name: 'vpp1' }),
  value(socketNodeAddressModel, { address: HOST, is_local: true }),
  value(socketNodeAddressModel, { address: OTHER_HOST }),
  value(socketServiceModel, {
    name: 'shop/web',
    mappings: [
      {
        frontends: [frontend('THIS_NODE', NODE_PORT), frontend('OTHER_NODES', NODE_PORT + 1)],
        backends: [{ address: '10.1.1.2', port: 8080 }],
      },
    ],
  }),
];

/** The host of a node, whose NIC is in the network of a client. */
function nodeWithClient(): Snapshot {
  const { devices, wires } = nodeTopology({ name: 'a', values, hostAddresses: [HOST] });
  const nic = iface('eth0', [`${HOST}/24`]);
  const all = new Map(devices.map((one) => [one.name, one]));
  const host = all.get('a/host')!;
  all.set(host.name, { ...host, interfaces: new Map([...host.interfaces, ['eth0', nic]]) });
  const client = device('client', { interfaces: [iface('eth0', [`${CLIENT}/24`])] });
  const ports = ['a/host', 'client'].map((name) => ({ device: name, interface: 'eth0' }));
  return {
    devices: all.set('client', client),
    wires: [...wires, { ports, isOpen: false }],
  };
}

/** Events as `<device>: <description>`. */
function events(start: string, packet: Packet): string[] {
  const { hops } = tracePacket(nodeWithClient(), start, packet);
  return hops.map(({ device: at, description }) => `${at}: ${description}`);
}

const asked: Packet = {
  source: CLIENT,
  sourcePort: 40_000,
  destination: HOST,
  destinationPort: NODE_PORT,
  protocol: 'TCP',
};
const DELIVERED = 'a/host: delivered: 172.16.0.1 is local on eth0';

describe('a packet that enters a host by a NIC with a program for services', () => {
  it('goes to VPP if it is for a node port of this node', () => {
    const found = events('client', asked);
    const hop =
      'a/host: the program at eth0 leads 172.16.0.1 TCP port 30080 of shop/web to VPP, 172.30.1.1 on tap-vpp1';
    const at = found.indexOf(hop);
    assert.notEqual(at, -1, found.join('\n'));
    assert.equal(found[at + 1], 'a/vpp: enters by tap-vpp2');
    const { hops } = tracePacket(nodeWithClient(), 'client', asked);
    assert.equal(hops[at]?.key, 'config/linux/socket/v2/link/eth0');
  });

  it('stays with the host if it asks anything else', () => {
    const others: Partial<Packet>[] = [
      { destinationPort: 22 },
      // a node port that only other nodes have
      { destinationPort: NODE_PORT + 1 },
      { protocol: 'UDP' },
      { protocol: 'ICMP' },
    ];
    for (const other of others)
      assert.equal(
        events('client', { ...asked, ...other }).at(-1),
        DELIVERED,
        JSON.stringify(other),
      );
  });
});

describe('a packet from VPP', () => {
  const led =
    'a/host: the program at tap-vpp1 leads the reply from 172.16.0.1 as the host routes it';

  it('is a reply to a client outside if its source is an address of this node', () => {
    const found = events('a/vpp', {
      ...asked,
      source: HOST,
      sourcePort: NODE_PORT,
      destination: CLIENT,
      destinationPort: 40_000,
    });
    assert.ok(found.includes(led), found.join('\n'));
    assert.equal(found.at(-1), 'client: delivered: 172.16.0.200 is local on eth0');
  });

  it('is none if it is from somewhere else, from a port without a service, or for the host', () => {
    const others = [
      { source: '10.1.1.2', destination: CLIENT },
      { source: HOST, sourcePort: NODE_PORT, destination: HOST },
      { source: HOST, sourcePort: 22, destination: CLIENT },
    ];
    for (const ends of others) {
      const found = events('a/vpp', { ...asked, ...ends });
      assert.ok(found.includes('a/host: enters by tap-vpp1'), found.join('\n'));
      assert.ok(!found.includes(led), found.join('\n'));
    }
  });
});
