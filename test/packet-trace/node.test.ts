/** Devices from configured values. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { linuxInterfaceModel } from '#models/linux/interface.ts';
import { linuxRouteModel } from '#models/linux/route.ts';
import type { AnyModel } from '#models/model.ts';
import { bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { linkStateKey } from '#models/vpp/derived.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { clusterSnapshot, deviceByAddress } from '#packet-trace/cluster.ts';
import type { NodeValues } from '#packet-trace/node.ts';
import { tracePacket } from '#packet-trace/tracer.ts';

function value(model: AnyModel, given: object): [string, unknown] {
  const whole = model.parse(given, 'test');
  return [model.key(whole as never), whole];
}

function node(name: string, ...values: (readonly [string, unknown])[]): NodeValues {
  return { name, values, hostAddresses: [] };
}

describe('a node from its values', () => {
  /** An untagged interface without an address, and a VLAN sub-interface with one. */
  const inVlan = (name: string, id: number, vlan: number) =>
    node(
      name,
      value(vppInterfaceModel, { name: 'nic', type: 'DPDK', enabled: true }),
      value(vppInterfaceModel, {
        name: 'nic.sub',
        type: 'SUB_INTERFACE',
        enabled: true,
        ip_addresses: [`192.0.2.${id}/24`],
        sub: { parent_name: 'nic', sub_id: vlan },
      }),
    );
  const packet = { source: '192.0.2.1', destination: '192.0.2.2' };

  it('has uplinks that connect nodes in the same VLAN', () => {
    const together = clusterSnapshot({ nodes: [inVlan('a', 1, 7), inVlan('b', 2, 7)] });
    assert.equal(tracePacket(together, 'a/vpp', packet).verdict, 'delivered');
    const apart = clusterSnapshot({ nodes: [inVlan('a', 1, 7), inVlan('b', 2, 8)] });
    assert.equal(tracePacket(apart, 'a/vpp', packet).verdict, 'left');
  });

  it('keeps the address of an interface whose link is down', () => {
    const nic = value(vppInterfaceModel, {
      name: 'nic',
      type: 'DPDK',
      enabled: true,
      ip_addresses: ['192.0.2.1/24'],
    });
    const other: readonly [string, unknown] = [
      linkStateKey.build({ iface: 'other', state: 'UP' }),
      {},
    ];
    const snapshot = clusterSnapshot({ nodes: [node('a', nic, other)] });
    const { enabled, up } = snapshot.devices.get('a/vpp')!.interfaces.get('nic')!;
    assert.deepEqual({ enabled, up }, { enabled: true, up: false });
  });

  it('has the addresses of a tunnel in table 0, whatever the table of its outer addresses', () => {
    const inTableOne = node(
      'a',
      value(vppInterfaceModel, {
        name: 'tunnel',
        type: 'VXLAN_TUNNEL',
        enabled: true,
        vrf: 1,
        ip_addresses: ['10.9.0.1/24'],
        vxlan: { src_address: '192.0.2.1', dst_address: '192.0.2.2', vni: 10 },
      }),
      value(vppInterfaceModel, {
        name: 'borrower',
        type: 'SOFTWARE_LOOPBACK',
        unnumbered: { interface_with_ip: 'tunnel' },
      }),
    );
    const { interfaces } = clusterSnapshot({ nodes: [inTableOne] }).devices.get('a/vpp')!;
    const { table, tunnel } = interfaces.get('tunnel')!;
    assert.deepEqual({ table, outer: tunnel?.table }, { table: 0, outer: 1 });
    assert.equal(interfaces.get('borrower')?.table, 0);
  });

  it('has preferences, tables of next hops, and split-horizon groups', () => {
    const snapshot = clusterSnapshot({
      nodes: [
        node(
          'a',
          value(vppRouteModel, {
            type: 'INTER_VRF',
            vrf_id: 1,
            via_vrf_id: 2,
            dst_network: '10.0.0.0/8',
            next_hop_addr: '10.9.0.1',
            preference: 3,
          }),
          value(vppRouteModel, {
            type: 'INTER_VRF',
            vrf_id: 1,
            via_vrf_id: 2,
            dst_network: '11.0.0.0/8',
            next_hop_addr: '0.0.0.0',
          }),
          value(bridgeDomainModel, {
            name: 'bd',
            interfaces: [{ name: 't1', split_horizon_group: 1 }, { name: 'p1' }],
          }),
          value(linuxInterfaceModel, { name: 'eth0', type: 'LOOPBACK', enabled: true }),
          value(linuxRouteModel, {
            outgoing_interface: 'eth0',
            scope: 'GLOBAL',
            dst_network: '10.0.0.0/8',
            gw_addr: '10.1.1.1',
            metric: 9,
          }),
        ),
      ],
    });
    const { routes, bridges } = snapshot.devices.get('a/vpp')!;
    assert.deepEqual(
      routes.map(({ action, preference }) => ({ ...action, preference })),
      [
        { kind: 'recursive', nextHop: '10.9.0.1', table: 2, preference: 3 },
        { kind: 'table', table: 2, preference: 0 },
      ],
    );
    assert.deepEqual(bridges[0]?.members, [
      { interface: 'p1', group: 0 },
      { interface: 't1', group: 1 },
    ]);
    assert.equal(snapshot.devices.get('a/host')!.routes[0]?.preference, 9);
  });

  it('is found by its address in all spellings', () => {
    const nic = value(vppInterfaceModel, {
      name: 'nic',
      type: 'DPDK',
      enabled: true,
      ip_addresses: ['2001:db8::1/64'],
    });
    const snapshot = clusterSnapshot({
      nodes: [{ ...node('a', nic), hostAddresses: ['2001:db8::2'] }],
    });
    assert.equal(deviceByAddress(snapshot, '2001:DB8:0:0::1'), 'a/vpp');
    assert.equal(deviceByAddress(snapshot, '2001:db8:0::2'), 'a/host');
    assert.equal(deviceByAddress(snapshot, '::ffff:10.0.0.1'), undefined);
  });
});
