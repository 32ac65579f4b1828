/** The NAT44 of a node in its trace document: as VPP reports it, and as it is configured. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { dnat44Model } from '#models/vpp/dnat44.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { nat44AddressPoolModel } from '#models/vpp/nat44-address-pool.ts';
import { nat44GlobalModel } from '#models/vpp/nat44-global.ts';
import { nat44InterfaceModel } from '#models/vpp/nat44-interface.ts';
import { clusterSnapshot } from '#packet-trace/cluster.ts';
import type { NatConfig } from '#packet-trace/nat-config.ts';
import { type NodeSnapshot, nodeValues } from '#packet-trace/node-document.ts';
import { makeNode, type RunningAgent, startAgent } from './harness.ts';

/** Too long for a tag of VPP. */
const longName = `default/${'long-name-'.repeat(7)}`;
const ANY_TABLE = 0xffff_ffff;

const loop = (name: string, address: string) =>
  vppInterfaceModel.canonical({
    name,
    type: 'SOFTWARE_LOOPBACK',
    enabled: true,
    ip_addresses: [address],
  });
const local = (local_ip: string, probability = 0) => ({ local_ip, local_port: 8080, probability });

const values = Object.fromEntries([
  ...[loop('loop1', '10.9.0.1/24'), loop('loop2', '10.9.1.1/24'), loop('loop3', '10.9.3.1/24')].map(
    (value) => [vppInterfaceModel.key(value), value],
  ),
  ...[nat44GlobalModel.canonical({ forwarding: true })].map((value) => [
    nat44GlobalModel.key(value),
    value,
  ]),
  ...[
    nat44InterfaceModel.canonical({ name: 'loop1', nat_inside: true, nat_outside: true }),
    nat44InterfaceModel.canonical({ name: 'loop2', output_feature: true }),
    nat44InterfaceModel.canonical({ name: 'loop3', nat_inside: true, classify: true }),
  ].map((value) => [nat44InterfaceModel.key(value), value]),
  ...[
    nat44AddressPoolModel.canonical({ first_ip: '10.9.1.1', vrf_id: ANY_TABLE }),
    nat44AddressPoolModel.canonical({ first_ip: '10.9.2.1', vrf_id: 0, twice_nat: true }),
  ].map((value) => [nat44AddressPoolModel.key(value), value]),
  ...[
    dnat44Model.canonical({
      label: longName,
      st_mappings: [
        {
          external_ip: '10.96.0.1',
          external_port: 80,
          local_ips: [local('10.1.1.1', 2), local('10.1.1.2', 1)],
          twice_nat: 'SELF',
          session_affinity: 60,
        },
        {
          external_ip: '10.96.0.2',
          external_port: 53,
          protocol: 'UDP',
          local_ips: [local('10.1.1.3')],
          twice_nat: 'ENABLED',
          twice_nat_pool_ip: '10.9.2.1',
        },
      ],
    }),
    dnat44Model.canonical({
      label: 'identities',
      id_mappings: [
        { ip_address: '10.9.1.1', protocol: 'UDP', port: 4789 },
        { interface: 'loop2', protocol: 'UDP' },
      ],
    }),
  ].map((value) => [dnat44Model.key(value), value]),
]);

async function natOf(running: RunningAgent, view: 'SB' | 'NB'): Promise<NatConfig | undefined> {
  const { body } = await running.get(`/trace/node?view=${view}`);
  const snapshot = clusterSnapshot({ nodes: [nodeValues(body as NodeSnapshot)] });
  return snapshot.devices.get('node1/vpp')?.nat;
}

/** Without what differs between the views: order, and weights without effect. */
function comparable(nat: NatConfig | undefined): unknown {
  const sorted = <T>(list: readonly T[] = []): string[] =>
    list.map((one) => JSON.stringify(one, Object.keys(one as object).sort())).sort();
  return {
    forwarding: nat?.forwarding,
    features: sorted(nat?.features),
    mappings: sorted(
      nat?.mappings.map(({ backends, ...one }) => ({
        ...one,
        backends: backends
          .map(({ address, port, table, weight }) => {
            const share = backends.length > 1 ? ` share ${weight}` : '';
            return `${address}:${port} table ${table}${share}`;
          })
          .sort()
          .join(', '),
      })),
    ),
    // VPP keeps no protocol of an identity for all ports
    identities: sorted(
      nat?.identities.map((one) => (one.port === 0 ? { ...one, protocol: '' } : one)),
    ),
    pool: sorted(nat?.pool),
    twiceNatPool: sorted(nat?.twiceNatPool),
  };
}

it('the NAT44 that VPP reports is the one that is configured', async () => {
  const source = { label: 'operator', snapshot: async () => values };
  await using running = await startAgent(makeNode(), { externalSources: [source] });
  const [found, wanted] = [await natOf(running, 'SB'), await natOf(running, 'NB')];
  assert.equal(wanted?.mappings.length, 2);
  assert.deepEqual(comparable(found), comparable(wanted));
});
