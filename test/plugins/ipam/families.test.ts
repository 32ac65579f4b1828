/** Addresses of one family or of both, which may change while pods run. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { contains, parseCidr, parseIp } from '#models/ip.ts';
import { allocationsDocument, ipamDocument } from '#plugins/ipam/api.ts';
import type { AddPodReply } from '#plugins/podmanager/api.ts';
import type { Outcome } from '../handler-bench.ts';
import { nodeValue, podValue, TestNode } from '../test-node.ts';

type Family = 4 | 6;
type Families = readonly Family[];

const networks = {
  podSubnetCIDR: { 4: '10.1.0.0/16', 6: 'fd01::/48' },
  vppHostSubnetCIDR: { 4: '172.30.0.0/16', 6: 'fd02::/48' },
  vxlanCIDR: { 4: '192.168.30.0/24', 6: 'fd04::/64' },
  serviceCIDR: { 4: '10.96.0.0/12', 6: 'fd05::/108' },
} as const;

/** Pod subnets of 13 addresses in each family. */
function yamlOf(families: Families): string {
  const subnets = Object.entries(networks).map(([key, ofFamily]) => [
    key,
    families.map((family) => ofFamily[family]).join(','),
  ]);
  return `ipamConfig: ${JSON.stringify({
    ...Object.fromEntries(subnets),
    nodeInterconnectCIDR: '192.168.16.0/24',
    podSubnetOneNodePrefixLenIPv4: 28,
    podSubnetOneNodePrefixLenIPv6: 124,
    vppHostSubnetOneNodePrefixLenIPv4: 24,
    vppHostSubnetOneNodePrefixLenIPv6: 64,
  })}`;
}

const state = [nodeValue('node-a', '172.16.0.5')];

async function started(families: Families): Promise<TestNode> {
  const node = new TestNode({ yaml: yamlOf(families) });
  await node.resync(state);
  return node;
}

async function restarted(node: TestNode, families: Families): Promise<TestNode> {
  const next = node.restart({ yaml: yamlOf(families) });
  const { error } = await next.resync(node.state());
  assert.equal(error, undefined);
  return next;
}

function addressesIn(outcome: Outcome): string[] {
  if (outcome.error) throw outcome.error;
  const [reply] = outcome.replies as AddPodReply[];
  return reply!.interfaces![0]!.addresses.map(({ address }) => address.split('/')[0]!);
}

const familyOf = (address: string): Family => (address.includes(':') ? 6 : 4);

/** Each attachment has at most one address of a family, of this node, that no other one has. */
function assertConsistent(node: TestNode): void {
  const seen = new Set<string>();
  const subnets = node.ipam.families().map((one) => parseCidr(one.podSubnetThisNode())!);
  for (const id of node.pods.attachments().keys()) {
    const addresses = node.ipam.podAddresses(id);
    assert.equal(new Set(addresses.map(familyOf)).size, addresses.length, addresses.join());
    for (const address of addresses) {
      assert.ok(!seen.has(address), `${address} has two owners`);
      seen.add(address);
      assert.ok(
        subnets.some((subnet) => contains(subnet, parseIp(address)!)),
        address,
      );
      assert.equal(node.ipam.allocations().get(address)?.attachment, id);
    }
    const order = node.ipam.families().map(({ family }) => family);
    const own = addresses.map(familyOf);
    assert.deepEqual(
      own,
      order.filter((family) => own.includes(family)),
    );
  }
}

describe('pods with addresses of both families', () => {
  for (const families of [
    [4, 6],
    [6, 4],
  ] as const)
    it(`have them in the order of the networks, with gateways and routes: IPv${families[0]} first`, async () => {
      const node = await started(families);
      const [reply] = (await node.add('web', 'c1')).replies as AddPodReply[];
      const ofFamily = {
        4: { family: 4, address: '10.1.0.18/32', gateway: '10.1.0.17' },
        6: { family: 6, address: 'fd01::12/128', gateway: 'fd01::11' },
      };
      assert.deepEqual(
        reply!.interfaces!.at(-1)!.addresses,
        families.map((family) => ofFamily[family]),
      );
      assert.deepEqual(
        reply!.routes,
        families.map((family) => ({
          destination: family === 4 ? '0.0.0.0/0' : '::/0',
          gateway: ofFamily[family].gateway,
        })),
      );
    });

  it('show them in the documents, those of the original have the first one', async () => {
    const node = await started([6, 4]);
    await node.add('web', 'c1');
    await node.add('web', 'c1', 'net1');
    const { ipam } = await restarted(node, [6, 4]);
    assert.deepEqual(allocationsDocument(ipam.allocations().values(), ipam.family), {
      Pods: [
        {
          PodID: { Name: 'web', Namespace: 'default' },
          MainIP: 'fd01::12',
          CustomIfIPs: { net1: 'fd01::13' },
          FurtherIPs: { eth0: ['10.1.0.18'], net1: ['10.1.0.19'] },
        },
      ],
    });
    const [primary, second] = ipam.families().map((one) => ({
      family: one.family,
      podSubnet: one.podSubnetThisNode(),
      vppHostSubnet: one.hostInterconnectSubnetThisNode(),
    }));
    const document = ipamDocument(ipam.settings(), {
      id: 1,
      name: 'node-a',
      addresses: ['fd16::1/64', '192.168.16.1/24'],
      networks: [primary!, second!],
    });
    assert.equal(document.nodeIP, 'fd16::1');
    assert.equal(document.podSubnetThisNode, 'fd01::10/124');
    const { podSubnetCIDR, serviceCIDR } = document.config as Record<string, unknown>;
    assert.deepEqual([podSubnetCIDR, serviceCIDR], ['fd01::/48', 'fd05::/108']);
    assert.deepEqual(document.furtherNetworks, [
      {
        nodeIP: '192.168.16.1',
        podSubnetThisNode: '10.1.0.16/28',
        vppHostNetwork: '172.30.1.0/24',
        config: {
          serviceCIDR: '10.96.0.0/12',
          podSubnetCIDR: '10.1.0.0/16',
          podSubnetOneNodePrefixLen: 28,
          vppHostSubnetCIDR: '172.30.0.0/16',
          vppHostSubnetOneNodePrefixLen: 24,
          nodeInterconnectCIDR: '192.168.16.0/24',
          vxlanCIDR: '192.168.30.0/24',
        },
      },
    ]);
  });

  it('get none if one of the families has no free address, and nothing stays allocated', async () => {
    const node = await started([4, 6]);
    // records of deleted pods reserve all addresses of the second family
    for (let n = 2; n < 14; n++) await node.put(podValue(`old${n}`, `fd01::1${n.toString(16)}`));
    const { error } = await node.add('web', 'c1');
    assert.match(
      String(error),
      /no free address in fd01::10\/124: 0 are owned by pods, 12 are res/,
    );
    assert.deepEqual(node.ipam.podAddresses('c1/eth0'), []);
    assert.equal((await node.localStore.list('local/ipam/address/')).entries.length, 0);
    await node.remove(podValue('old2', 'fd01::12'));
    assert.deepEqual(addressesIn(await node.add('web', 'c1')).length, 2);
  });

  it('get the missing address when a crash came between the records of both', async () => {
    const node = await started([4, 6]);
    const before = addressesIn(await node.add('web', 'c1'));
    await node.localStore.delete(`local/ipam/address/${before[1]}`);
    const next = await restarted(node, [4, 6]);
    assert.deepEqual(next.ipam.podAddresses('c1/eth0'), [before[0]]);
    const after = addressesIn(await next.add('web', 'c1'));
    assert.equal(after[0], before[0]);
    assert.equal(after.length, 2);
    assertConsistent(next);
  });

  it('have what VPP has if only one record was lost', async () => {
    const node = await started([4, 6]);
    const [ipv4, ipv6] = addressesIn(await node.add('web', 'c1'));
    const pod = podValue('web', ipv4!);
    await node.put({ ...pod, value: { ...pod.value, ip_addresses: [ipv4, ipv6] } });
    node.vpp.nics = [
      { swIfIndex: 7, internalName: 'tap0', deviceType: 'virtio', tag: 'vpp-tap-c1', mtu: 1400 },
    ];
    node.vpp.neighbors.set(7, {
      mac: '02:fe:00:00:00:01',
      neighbors: [ipv4!, ipv6!].map((address) => ({ address, mac: '02:fe:00:00:00:02' })),
    });
    await node.localStore.delete(`local/ipam/address/${ipv6}`);
    const next = await restarted(node, [4, 6]);
    assert.deepEqual(next.ipam.podAddresses('c1/eth0'), [ipv4, ipv6]);
  });

  it('keep what they have while the families change, and new ones get all (random)', async () => {
    const anyFamilies = fc.constantFrom<Families>([4], [6], [4, 6], [6, 4]);
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.record({ add: fc.nat(9) }) },
      { weight: 3, arbitrary: fc.record({ del: fc.nat(9) }) },
      { weight: 2, arbitrary: fc.record({ restart: anyFamilies }) },
    );
    await fc.assert(
      fc.asyncProperty(anyFamilies, fc.array(step, { maxLength: 25 }), async (first, steps) => {
        let node = await started(first);
        const running = new Map<string, readonly string[]>();
        for (const one of steps) {
          if ('restart' in one) node = await restarted(node, one.restart);
          else if ('del' in one) {
            const { followUps } = await node.del(`p${one.del}`, `c${one.del}`);
            running.delete(`c${one.del}`);
            // with the last pod of other subnets the configured ones take effect
            for (const event of followUps) await node.run(event);
          } else if (!running.has(`c${one.add}`)) {
            const addresses = addressesIn(await node.add(`p${one.add}`, `c${one.add}`));
            const inEffect = node.ipam.families().map(({ family }) => family);
            assert.deepEqual(addresses.map(familyOf), inEffect);
            running.set(`c${one.add}`, addresses);
          }
          assertConsistent(node);
          for (const [id, addresses] of running)
            assert.deepEqual(
              new Set(node.ipam.podAddresses(`${id}/eth0`)),
              new Set(addresses),
              'a running pod has other addresses',
            );
        }
        for (const id of [...running.keys()]) await node.del(`p${id.slice(1)}`, id);
        assert.equal(node.ipam.allocations().size, 0);
      }),
      { numRuns: 60 },
    );
  });
});
