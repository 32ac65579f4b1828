import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeStn } from '../../fake-ports.ts';
import { fakeVppWithNics, nonDefaultFields } from '../../ipv4net/vpp-with.ts';
import { startedNode } from '../../ipv4net/wired-node.ts';
import { nodeValue, sorted, type TestNode } from '../../test-node.ts';
import { endpointsValue, localPod, serviceValue } from '../service-values.ts';

const NAT = 'config/vpp/nat/v2/';
const NODES = 'nodeInterconnectCIDR: 192.168.16.0/24';
const GATEWAY = `ipamConfig: {${NODES}, defaultGateway: 192.168.16.100}`;

/** The values of NAT44 by key, without fields at their default. */
function natOf(node: TestNode): Record<string, unknown> {
  return Object.fromEntries(
    [...node.config]
      .filter(([key]) => key.startsWith(NAT))
      .map(([key, value]) => [key.slice(NAT.length), nonDefaultFields(value)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const features = (node: TestNode): Record<string, string> =>
  Object.fromEntries(
    Object.entries(natOf(node)).flatMap(([key, value]) => {
      const { name, ...sides } = value as Record<string, unknown>;
      if (!key.startsWith('nat44-interface/')) return [];
      return [[String(name), Object.keys(sides).sort().join(' ')]];
    }),
  );

const pool = (node: TestNode): string[] =>
  Object.keys(natOf(node)).filter((key) => key.startsWith('nat44-pool/'));

const CLASSIFIES = 'classify nat_inside';
/** With the link before the uplink, at which sources are translated. */
const atTheEdge = { Gig1: 'nat_outside', edgeLink: 'output_feature output_only' };
const ANY_TABLE = 'nat44-pool/vrf/4294967295/address/';
const LOOPBACK = 'nat44-pool/vrf/1/address/10.1.1.254';
const MAIN_VRF_CLIENTS = 'nat44-pool/clients-of-main-vrf';

describe('NAT44 of a node', () => {
  it('translates the sources of traffic that leaves through the NIC with the default gateway', async () => {
    const node = await startedNode({ yaml: GATEWAY });
    const classifying = (name: string) => ({ name, nat_inside: true, classify: true });
    const identity = { ip_address: '192.168.16.1', protocol: 'UDP', requires_pool: false };
    assert.deepEqual(natOf(node), {
      'dnat44/DNAT-identities': {
        label: 'DNAT-identities',
        id_mappings: [
          { interface: '', vrf_id: 0, port: 0, ...identity },
          { interface: '', vrf_id: 1, port: 0, ...identity },
          { interface: '', vrf_id: 4_294_967_292, port: 0, ...identity },
          { interface: '', vrf_id: 4_294_967_293, port: 0, ...identity },
          { interface: '', vrf_id: 0, port: 4789, ...identity },
        ],
      },
      'nat44-global': {
        forwarding: true,
        sessions: {
          max_sessions: 0,
          udp_timeout: 300,
          tcp_established_timeout: 10_800,
          tcp_transitory_timeout: 0,
          icmp_timeout: 300,
          several_workers: false,
          // one part of 16 is for packets of tunnels and replies of node ports
          table_limits: [
            { vrf_id: 0, max_sessions: 60_480 },
            { vrf_id: 1, max_sessions: 64_512 },
            { vrf_id: 4_294_967_292, max_sessions: 64_512 },
            { vrf_id: 4_294_967_293, max_sessions: 60_480 },
          ],
        },
      },
      'nat44-interface/Gig1': { name: 'Gig1', nat_outside: true },
      'nat44-interface/edgeLink': { name: 'edgeLink', output_feature: true, output_only: true },
      'nat44-interface/tap-vpp2': classifying('tap-vpp2'),
      'nat44-interface/vxlanBVI': classifying('vxlanBVI'),
      'nat44-pool/clients-of-main-vrf': {
        name: 'clients-of-main-vrf',
        first_ip: '172.30.1.1',
        twice_nat: true,
      },
      'nat44-pool/vrf/1/address/10.1.1.254': {
        vrf_id: 1,
        first_ip: '10.1.1.254',
        twice_nat: true,
      },
      [`${ANY_TABLE}192.168.16.1`]: { vrf_id: 4_294_967_295, first_ip: '192.168.16.1' },
    });
  });

  it('translates no sources if it is configured so, or has no gateway in the network of a NIC', async () => {
    for (const yaml of [
      `natExternalTraffic: false\n${GATEWAY}`,
      `ipamConfig: {${NODES}}`,
      `ipamConfig: {${NODES}, defaultGateway: 10.9.9.9}`,
    ]) {
      const node = await startedNode({ yaml });
      assert.deepEqual(pool(node), [`${ANY_TABLE}10.1.1.254`], yaml);
      assert.equal(features(node)['Gig1'], CLASSIFIES, yaml);
    }
  });

  it('translates no sources on the NIC by which other nodes are reached without an overlay', async () => {
    const node = await startedNode({ yaml: `nodeToNodeTransport: nooverlay\n${GATEWAY}` }, []);
    assert.deepEqual(features(node), { Gig1: CLASSIFIES, 'tap-vpp2': CLASSIFIES });
    assert.deepEqual(pool(node), [`${ANY_TABLE}10.1.1.254`]);
  });

  it('uses another NIC if the gateway is in its network, also without an overlay', async () => {
    const other = `
ipamConfig: {${NODES}, defaultGateway: 203.0.113.1}
nodeConfig:
- nodeName: node-a
  otherVPPInterfaces: [{interfaceName: Gig2, ip: 203.0.113.7/24}]
`;
    for (const transport of ['vxlan', 'nooverlay']) {
      const node = await startedNode({ yaml: `nodeToNodeTransport: ${transport}${other}` }, []);
      assert.equal(features(node)['Gig2'], 'output_feature');
      assert.equal(features(node)['edgeLink'], undefined);
      assert.equal(features(node)['Gig1'], CLASSIFIES);
      assert.deepEqual(pool(node), [MAIN_VRF_CLIENTS, LOOPBACK, `${ANY_TABLE}203.0.113.7`]);
    }
  });

  it('uses the main NIC with DHCP, and its address once there is a lease', async () => {
    const vpp = fakeVppWithNics('Gig1');
    const yaml = 'ipamConfig: {nodeInterconnectDHCP: true}';
    const node = await startedNode({ vpp, yaml }, []);
    assert.equal(features(node)['Gig1'], CLASSIFIES);
    vpp.dhcp = [{ interfaceName: 'Gig1', address: '172.20.0.9/16', router: '172.20.0.1' }];
    await node.heal();
    const { Gig1, edgeLink } = features(node);
    assert.deepEqual({ Gig1, edgeLink }, atTheEdge);
    assert.deepEqual(pool(node), [MAIN_VRF_CLIENTS, LOOPBACK, `${ANY_TABLE}172.20.0.9`]);
  });

  it('uses the main NIC with STN', async () => {
    const stn = new FakeStn();
    stn.stolen.set('eth1', {
      pciAddress: '0000:0b:00.0',
      kernelDriver: 'e1000',
      addresses: ['10.20.0.5/24'],
      routes: [],
    });
    const vpp = fakeVppWithNics('Gig1');
    const node = await startedNode({ vpp, stn, yaml: 'stealInterface: eth1' }, []);
    const { Gig1, edgeLink } = features(node);
    assert.deepEqual({ Gig1, edgeLink }, atTheEdge);
    assert.deepEqual(pool(node), [LOOPBACK, `${ANY_TABLE}10.20.0.5`]);
  });

  it('configures sessions as service.conf says', async () => {
    const node = await startedNode({
      service: {
        tcpNATSessionTimeout: 10,
        otherNATSessionTimeout: 1,
        natSessionTableSize: 1000,
        disableNATVirtualReassembly: true,
      },
    });
    const { sessions, virtual_reassembly } = natOf(node)['nat44-global'] as Record<string, object>;
    assert.deepEqual(sessions, {
      max_sessions: 1000,
      tcp_established_timeout: 600,
      tcp_transitory_timeout: 0,
      udp_timeout: 60,
      icmp_timeout: 60,
      several_workers: false,
      table_limits: [
        { vrf_id: 0, max_sessions: 938 },
        { vrf_id: 1, max_sessions: 1000 },
        { vrf_id: 4_294_967_292, max_sessions: 1000 },
        { vrf_id: 4_294_967_293, max_sessions: 938 },
      ],
    });
    assert.deepEqual(nonDefaultFields(virtual_reassembly!), { drop_fragments: true });
  });

  it('refuses packets to cluster IPs that no mapping has translated, instead of sending them out', async () => {
    const node = await startedNode({ yaml: GATEWAY });
    const typeIn = (vrf: number) =>
      node.at(`config/vpp/v2/route/vrf/${vrf}/dst/10.96.0.0/12/gw/0.0.0.0`)['type'];
    assert.deepEqual([0, 1].map(typeIn), ['UNREACHABLE', 'INTER_VRF']);
  });
});

describe('a backend outside of the cluster', () => {
  const external = endpointsValue('db', [{ ip: '198.51.100.5', node: '' }]);

  it('sees the uplink, which replaces the link to the host in the pool meanwhile', async () => {
    const node = await startedNode({ yaml: GATEWAY });
    const key = NAT + MAIN_VRF_CLIENTS;
    await node.put(serviceValue('db', '10.96.0.30'));
    assert.equal(node.at(key)['first_ip'], '172.30.1.1');
    await node.put(external);
    assert.deepEqual(nonDefaultFields(node.at(key)), {
      name: 'clients-of-main-vrf',
      first_ip: '192.168.16.1',
      twice_nat: true,
    });
    const [mapping] = node.at<{ st_mappings: { twice_nat: string; local_ips: object[] }[] }>(
      `${NAT}dnat44/default/db`,
    ).st_mappings;
    assert.equal(mapping!.twice_nat, 'ENABLED');
    assert.deepEqual(mapping!.local_ips.map(nonDefaultFields), [
      { local_ip: '0.0.0.0', local_port: 1 },
      { local_ip: '198.51.100.5', local_port: 8080, probability: 2 },
    ]);
    const { txn } = await node.put(endpointsValue('db', [localPod(2)]));
    assert.deepEqual([...txn.values.keys()].sort(), [`${NAT}dnat44/default/db`, key]);
    assert.equal(node.at(key)['first_ip'], '172.30.1.1');
    await node.put(external);
    await node.heal();
    assert.equal(node.at(key)['first_ip'], '192.168.16.1');
  });

  it('sees the client where sources are not translated', async () => {
    const node = await startedNode({ yaml: `ipamConfig: {${NODES}}` });
    await node.put(serviceValue('db', '10.96.0.30'));
    await node.put(external);
    const [mapping] = node.at<{ st_mappings: { twice_nat: string }[] }>(
      `${NAT}dnat44/default/db`,
    ).st_mappings;
    assert.equal(mapping!.twice_nat, 'SELF');
  });
});

describe('a backend in the network of a host', () => {
  const hosts = endpointsValue('host', [
    { ip: '172.16.0.5', node: 'node-a', pod: 'h1' },
    { ip: '172.16.0.6', node: 'node-b', pod: 'h2' },
  ]);
  const tables = async (yaml: string) => {
    const node = await startedNode({ yaml });
    await node.put(serviceValue('host', '10.96.0.31'));
    await node.put(hosts);
    const [mapping] = node.at<{
      st_mappings: { twice_nat: string; local_ips: { local_ip: string; vrf_id: number }[] }[];
    }>(`${NAT}dnat44/default/host`).st_mappings;
    const { twice_nat, local_ips } = mapping!;
    return { twice_nat, tables: local_ips.map(({ vrf_id }) => vrf_id) };
  };

  it('is in the table in which its replies arrive', async () => {
    assert.deepEqual(await tables(GATEWAY), { twice_nat: 'SELF', tables: [0, 1] });
    assert.deepEqual((await tables(`nodeToNodeTransport: nooverlay\n${GATEWAY}`)).tables, [0, 0]);
  });

  it('does not see the host as a client, if its packets to services pass VPP', async () => {
    const { twice_nat } = await tables(`routeServiceCIDRToVPP: true\n${GATEWAY}`);
    assert.equal(twice_nat, 'ENABLED');
  });
});

describe('an external address of a service', () => {
  const web = (...external_ips: string[]) => serviceValue('web', '10.96.0.10', { external_ips });
  const ADDRESS = '203.0.113.50';
  const KEY = `${NAT}nat44-pool/vrf/4294967294/address/${ADDRESS}`;
  const TABLE = 'config/vpp/v2/vrf-table/id/4294967294/protocol/IPV4';
  const IDENTITIES = `${NAT}dnat44/DNAT-identities/${ADDRESS}`;

  it('keeps its replies from being translated at the uplink, while a service has it', async () => {
    const node = await startedNode({ yaml: GATEWAY });
    await node.put(web(ADDRESS));
    await node.put(
      serviceValue('db', '10.96.0.11', {
        external_ips: [ADDRESS],
        port: [{ name: 'http', protocol: 'TCP', port: 81 }],
      }),
    );
    assert.equal(node.config.has(KEY), false);
    await node.put(endpointsValue('web', [localPod(2)]));
    await node.put(endpointsValue('db', [localPod(2)]));
    const { id_mappings } = node.at<{ id_mappings: object[] }>(IDENTITIES);
    const whole = { ip_address: ADDRESS, protocol: 'UDP', requires_pool: true };
    assert.deepEqual(id_mappings.map(nonDefaultFields), [
      whole,
      { ...whole, vrf_id: 1 },
      { ...whole, vrf_id: 4_294_967_292 },
      { ...whole, vrf_id: 4_294_967_293 },
    ]);
    assert.deepEqual(nonDefaultFields(node.at(KEY)), {
      vrf_id: 4_294_967_294,
      first_ip: ADDRESS,
    });
    assert.ok(node.config.has(TABLE));
    await node.put(web());
    assert.ok(node.config.has(KEY));
    const { txn } = await node.put(endpointsValue('db', []));
    assert.deepEqual([...txn.values.keys()].sort(), [
      IDENTITIES,
      `${NAT}dnat44/default/db`,
      KEY,
      ...[0, 1].flatMap((vrf) =>
        ['10.96.0.11', ADDRESS].map(
          (address) => `config/vpp/v2/route/vrf/${vrf}/dst/${address}/32/gw/0.0.0.0`,
        ),
      ),
      TABLE,
    ]);
    assert.equal(node.config.has(IDENTITIES), false);
  });

  it('comes and goes without a change of the others', async () => {
    const node = await startedNode({ yaml: GATEWAY });
    await node.put(endpointsValue('web', [localPod(2)]));
    await node.put(web(ADDRESS));
    const { txn } = await node.put(web(ADDRESS, '203.0.113.51'));
    assert.deepEqual([...txn.values.keys()].sort(), [
      `${NAT}dnat44/DNAT-identities/203.0.113.51`,
      `${NAT}dnat44/default/web`,
      `${NAT}nat44-pool/vrf/4294967294/address/203.0.113.51`,
    ]);
    const incremental = natOf(node);
    await node.heal();
    assert.deepEqual(natOf(node), incremental);
  });

  it('stays that of the host if the host has it', async () => {
    const node = await startedNode({ yaml: GATEWAY });
    await node.put(web('172.16.0.5'));
    await node.put(endpointsValue('web', [localPod(2)]));
    const { st_mappings } = node.at<{ st_mappings: { external_ip: string }[] }>(
      `${NAT}dnat44/default/web`,
    );
    assert.ok(st_mappings.some(({ external_ip }) => external_ip === '172.16.0.5'));
    const pools = [...node.config.keys()].filter((key) => key.startsWith(`${NAT}nat44-pool/`));
    assert.ok(
      pools.every((key) => !key.includes('172.16.0.5')),
      pools.join(),
    );
  });

  it('becomes that of the host with the address of a link, and is taken again without it', async () => {
    const node = await startedNode({ yaml: GATEWAY });
    await node.put(web(ADDRESS));
    await node.put(endpointsValue('web', [localPod(2)]));
    for (const [address, isTaken] of [
      [ADDRESS, false],
      ['172.16.0.9', true],
    ] as const) {
      node.host.hostLinks = [{ name: 'eth0', mtu: 1500, addresses: [`${address}/24`] }];
      await node.put(nodeValue('node-a', address));
      assert.equal(node.config.has(KEY), isTaken, address);
      assert.equal(node.config.has(IDENTITIES), isTaken, address);
      const incremental = sorted(node.config);
      await node.heal();
      assert.deepEqual(sorted(node.config), incremental);
    }
  });

  it('needs nothing where sources are not translated', async () => {
    const node = await startedNode({ yaml: `ipamConfig: {${NODES}}` });
    await node.put(web(ADDRESS));
    await node.put(endpointsValue('web', [localPod(2)]));
    assert.equal(node.config.has(KEY), false);
    assert.equal(node.config.has(IDENTITIES), false);
  });
});
