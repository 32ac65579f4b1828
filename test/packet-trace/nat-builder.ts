/**
 * A node with two pods, one service network and a neighbor outside, with NAT44 as the service renderer
 * arranges it: pods in table 1, the uplink in table 0.
 */
import type { NatBackend, NatConfig, NatMapping } from '#packet-trace/nat-config.ts';
import type { Device, Route, Snapshot } from '#packet-trace/snapshot.ts';
import { device, iface, snapshot, via } from './snapshot-builder.ts';

export const WEB = '10.1.1.2';
export const DB = '10.1.1.3';
export const NODE = '192.168.16.1';
export const OUTSIDE = '192.168.16.9';
export const NODE_LOOPBACK = '10.1.1.254';
export const CLUSTER_IP = '10.96.0.1';

export const backend = (address: string, port = 8080, weight = 1): NatBackend => ({
  address,
  port,
  table: 1,
  weight,
});

export const mapping = (change: Partial<NatMapping>): NatMapping => ({
  key: 'dnat/default/web',
  label: 'default/web',
  protocol: 'TCP',
  address: CLUSTER_IP,
  port: 80,
  backends: [backend(DB)],
  twiceNat: 'SELF',
  twiceNatAddress: '',
  affinity: 0,
  isOut2inOnly: true,
  ...change,
});

const identity = { key: 'identities', label: 'identities', address: NODE } as const;

/** NAT of the renderer, with source NAT of traffic that leaves by the uplink. */
export function natConfig(change: Partial<NatConfig> = {}): NatConfig {
  return {
    forwarding: true,
    features: [
      ...['tapWeb', 'tapDb'].flatMap((name) => [
        { interface: name, side: 'out' as const },
        { interface: name, side: 'in' as const },
      ]),
      { interface: 'uplink', side: 'output' },
    ],
    mappings: [mapping({})],
    identities: [
      { ...identity, protocol: 'UDP', port: 4789, table: 0 },
      { ...identity, protocol: 'UDP', port: 0, table: 0 },
      { ...identity, protocol: 'UDP', port: 0, table: 1 },
    ],
    pool: [{ key: 'global', address: NODE, table: undefined }],
    twiceNatPool: [{ key: 'global', address: NODE_LOOPBACK, table: undefined }],
    ...change,
  };
}

export function natCluster(nat: NatConfig): Snapshot {
  return snapshot(
    [
      pod('web', WEB),
      pod('db', DB),
      { ...vpp(), nat },
      device('outside', {
        interfaces: [iface('eth0', [`${OUTSIDE}/24`])],
        routes: ['10.1.0.0/16', '203.0.113.0/24'].map((to) => via(to, 'eth0', NODE)),
        forwards: false,
      }),
    ],
    'web.eth0-vpp.tapWeb',
    'db.eth0-vpp.tapDb',
    'vpp.uplink-outside.eth0',
  );
}

function pod(name: string, address: string): Device {
  return device(name, {
    interfaces: [iface('eth0', [`${address}/32`])],
    routes: [via('10.1.1.1/32', 'eth0'), via('0.0.0.0/0', 'eth0', '10.1.1.1')],
    neighbors: [
      {
        interface: 'eth0',
        address: '10.1.1.1',
        mac: `02:00:00:00:00:0${name === 'web' ? 2 : 3}`,
        key: '',
      },
    ],
    forwards: false,
  });
}

function vpp(): Device {
  const tap = (name: string, place: number) =>
    iface(name, ['10.1.1.1/32'], { table: 1, mac: `02:00:00:00:00:0${place}` });
  const inPods = (destination: string, action: Route['action']): Route => ({
    table: 1,
    destination,
    preference: 0,
    action,
    key: '',
  });
  return device('vpp', {
    interfaces: [tap('tapWeb', 2), tap('tapDb', 3), iface('uplink', [`${NODE}/24`])],
    routes: [
      inPods(`${WEB}/32`, { kind: 'via', interface: 'tapWeb', nextHop: undefined }),
      inPods(`${DB}/32`, { kind: 'via', interface: 'tapDb', nextHop: undefined }),
      inPods('0.0.0.0/0', { kind: 'table', table: 0 }),
      { ...inPods('10.1.1.0/24', { kind: 'table', table: 1 }), table: 0 },
    ],
  });
}
