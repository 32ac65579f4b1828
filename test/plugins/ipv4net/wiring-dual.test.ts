/** A node of both families is wired as one of each of them, over the same links. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatIp, parseIp } from '#models/ip.ts';
import type { AddPodReply } from '#plugins/podmanager/api.ts';
import { nodeValue, TestNode, vppNodeValue } from '../test-node.ts';
import { fakeVppWithNics } from './vpp-with.ts';

type Family = 4 | 6;

const networks = {
  podSubnetCIDR: { 4: '10.1.0.0/16', 6: 'fd01::/48' },
  vppHostSubnetCIDR: { 4: '172.30.0.0/16', 6: 'fd02::/48' },
  vxlanCIDR: { 4: '192.168.30.0/24', 6: 'fd04::/64' },
  serviceCIDR: { 4: '10.96.0.0/12', 6: 'fd05::/108' },
} as const;

function yamlOf(families: readonly Family[], transport: string, ipam = {}): string {
  const subnets = Object.entries(networks).map(([key, ofFamily]) => [
    key,
    families.map((family) => ofFamily[family]).join(','),
  ]);
  return JSON.stringify({
    mtuSize: 1400,
    nodeToNodeTransport: transport,
    routeServiceCIDRToVPP: true,
    ipamConfig: {
      ...Object.fromEntries(subnets),
      nodeInterconnectCIDR: '192.168.16.0/24,fd16::/64',
      podSubnetOneNodePrefixLenIPv4: 24,
      podSubnetOneNodePrefixLenIPv6: 64,
      vppHostSubnetOneNodePrefixLenIPv4: 24,
      vppHostSubnetOneNodePrefixLenIPv6: 64,
      ...ipam,
    },
  });
}

async function wired(
  families: readonly Family[],
  transport: string,
  ofB = ['192.168.16.2/24', 'fd16::2/64'],
): Promise<TestNode> {
  const node = new TestNode({ yaml: yamlOf(families, transport), vpp: fakeVppWithNics('Gig1') });
  node.host.hostLinks = [{ name: 'eth0', mtu: 1500, addresses: ['172.16.0.5/24', 'fd09::5/64'] }];
  node.host.ipv6 = true;
  const own = nodeValue('node-a', '172.16.0.5', 'fd09::5');
  const { error } = await node.resync([
    own,
    vppNodeValue(2, 'node-b', ...ofB),
    nodeValue('node-b', '172.16.0.6', 'fd09::6'),
  ]);
  assert.equal(error, undefined);
  await node.add('web', 'c1');
  return node;
}

/** Values without those of services and policies, and without what is in a list of both families. */
function wiringOf(node: TestNode): Map<string, unknown> {
  const values = new Map<string, unknown>();
  for (const [key, value] of node.config) {
    if (/\/(nat|acl)\/v2\//.test(key)) continue;
    const { ip_addresses: _, mode: __, ...rest } = value as Record<string, unknown>;
    values.set(key, rest);
  }
  return values;
}

function addressesOf(node: TestNode): Map<string, readonly string[]> {
  return new Map(
    [...node.config].flatMap(([key, value]) => {
      const { ip_addresses } = value as { ip_addresses?: readonly string[] };
      return ip_addresses === undefined ? [] : [[key, ip_addresses] as const];
    }),
  );
}

describe('wiring of a node of both families', () => {
  for (const transport of ['vxlan', 'nooverlay'])
    for (const families of [
      [4, 6],
      [6, 4],
    ] as const)
      it(`is that of both: ${transport}, IPv${families[0]} first`, async () => {
        const dual = await wired(families, transport);
        const single = [await wired([4], transport), await wired([6], transport)];
        const expected = new Map(single.flatMap((node) => [...wiringOf(node)]));
        assert.deepEqual(new Map([...wiringOf(dual)].sort()), new Map([...expected].sort()));
        const addresses = addressesOf(dual);
        for (const [key, list] of addresses) {
          const ofBoth = single.flatMap((node) => addressesOf(node).get(key) ?? []);
          assert.deepEqual([...list].sort(), [...new Set(ofBoth)].sort(), key);
        }
      });

  it('answers the runtime with the addresses, gateways and routes of both', async () => {
    const node = await wired([6, 4], 'vxlan');
    const [reply] = (await node.add('db', 'c2')).replies as AddPodReply[];
    const { addresses } = reply!.interfaces!.at(-1)!;
    assert.deepEqual(
      addresses.map(({ family, gateway }) => [family, gateway]),
      [
        [6, 'fd01:0:0:1::1'],
        [4, '10.1.1.1'],
      ],
    );
    for (const { address } of addresses) {
      const [host = ''] = address.split('/');
      assert.equal(formatIp(parseIp(host)!), host);
      assert.ok(node.config.has(`config/vpp/v2/arp/vpp-tap-c2/${host}`));
    }
  });

  it('is known to policies by its addresses and subnets of both', async () => {
    const [dual, ipv4, ipv6] = [
      await wired([6, 4], 'vxlan'),
      await wired([4], 'vxlan'),
      await wired([6], 'vxlan'),
    ].map((node) => node.policies.node()!);
    const { natLoopbacks, podSubnets, addresses } = dual!;
    assert.deepEqual(podSubnets, ['fd01:0:0:1::/64', '10.1.1.0/24']);
    assert.deepEqual(natLoopbacks, [...ipv6!.natLoopbacks, ...ipv4!.natLoopbacks]);
    const ofBoth = new Set([...ipv4!.addresses, ...ipv6!.addresses]);
    assert.deepEqual(addresses, [...ofBoth].sort());
  });

  it('publishes both addresses of its VPP', async () => {
    const node = await wired([4, 6], 'vxlan');
    const record = await node.clusterStore.get('/vnf-agent/contiv-ksr/allocatedIDs/1');
    const { ip_addresses } = JSON.parse(record!) as { ip_addresses: readonly string[] };
    assert.deepEqual(ip_addresses, ['192.168.16.1/24', 'fd16::1/64']);
    assert.deepEqual(node.net.nodeAddresses(), ['192.168.16.1/24', 'fd16::1/64']);
  });

  it('reaches a node that has one family until now in that one, and says so', async () => {
    const node = await wired([4, 6], 'nooverlay', ['192.168.16.2/24']);
    const to = (network: string) =>
      [...node.config.keys()].filter((key) => key.includes(`/dst/${network}/gw/`));
    assert.equal(to('10.1.2.0/24').length, 1);
    assert.equal(to('fd01:0:0:2::/64').length, 0);
    assert.deepEqual(node.net.nodeProblems().of('node-b'), [
      'node node-b cannot be reached: it has announced no IPv6 address of its VPP, which pods of IPv6 need without an overlay',
    ]);
  });

  it('leads to a gateway in each family, and translates sources of IPv4, with either one first', async () => {
    for (const families of [
      [4, 6],
      [6, 4],
    ] as const) {
      const ipam = { defaultGateway: 'fe80::99, 192.168.16.100' };
      const node = new TestNode({
        yaml: yamlOf(families, 'vxlan', ipam),
        vpp: fakeVppWithNics('Gig1'),
      });
      assert.equal((await node.resync([nodeValue('node-a', '172.16.0.5')])).error, undefined);
      const route = 'config/vpp/v2/route/if/Gig1/vrf/0/dst';
      assert.ok(node.config.has(`${route}/0.0.0.0/0/gw/192.168.16.100`));
      assert.ok(node.config.has(`${route}/::/0/gw/fe80::99`));
      assert.deepEqual(node.net.uplink(4), {
        interface: 'Gig1',
        address: '192.168.16.1',
        edgeLink: 'edgeLink',
      });
      const none = new TestNode({
        yaml: yamlOf(families, 'vxlan', { defaultGateway: 'fe80::99' }),
        vpp: fakeVppWithNics('Gig1'),
      });
      await none.resync([nodeValue('node-a', '172.16.0.5')]);
      assert.equal(none.net.uplink(4), undefined);
    }
  });

  it('has the address of a lease beside its computed one of IPv6', async () => {
    for (const families of [
      [4, 6],
      [6, 4],
    ] as const) {
      const ipam = { nodeInterconnectDHCP: true, defaultGateway: '9.9.9.9,fe80::99' };
      const node = new TestNode({
        yaml: yamlOf(families, 'vxlan', ipam),
        vpp: fakeVppWithNics('Gig1'),
      });
      await node.resync([nodeValue('node-a', '172.16.0.5')]);
      // VPP has it before a lease, but the node is not reached at it alone
      assert.deepEqual(node.at('config/vpp/v2/interfaces/Gig1')['ip_addresses'], ['fd16::1/64']);
      assert.deepEqual(node.net.nodeAddresses(), []);
      node.vpp.dhcp = [{ interfaceName: 'Gig1', address: '10.9.0.5/24', router: '10.9.0.1' }];
      await node.heal();
      const nic = node.at('config/vpp/v2/interfaces/Gig1');
      assert.deepEqual([nic['ip_addresses'], nic['set_dhcp_client']], [['fd16::1/64'], true]);
      const both = ['10.9.0.5/24', 'fd16::1/64'];
      assert.deepEqual(node.net.nodeAddresses(), families[0] === 4 ? both : both.toReversed());
      assert.deepEqual(node.net.defaultGateways(), ['10.9.0.1', 'fe80::99']);
      const routes = [...node.config.keys()].filter((key) => key.includes('if/Gig1/vrf/0/dst'));
      assert.deepEqual(routes, ['config/vpp/v2/route/if/Gig1/vrf/0/dst/::/0/gw/fe80::99']);
      assert.equal(node.net.uplink(4)?.address, '10.9.0.5');
    }
  });
});
