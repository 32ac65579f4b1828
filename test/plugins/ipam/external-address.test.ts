import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StoreUnavailableError } from '#datastore/api.ts';
import { nodeModel } from '#kubernetes/models/node.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import { PodCidrChange } from '#plugins/ipam/api.ts';
import { ExternalAddressError, externalAddress } from '#plugins/ipam/external-address.ts';
import { AddPod } from '#plugins/podmanager/api.ts';
import type { Outcome } from '../handler-bench.ts';
import {
  addressOf,
  type KubeValue,
  nodeValue,
  podValue,
  TestNode,
  vppNodeValue,
} from '../test-node.ts';

const YAML = 'ipamConfig: {useExternalIPAM: true, nodeInterconnectCIDR: 192.168.16.0/24}';

function withCidr(name: string, address: string, podCidr: string): KubeValue {
  const value = nodeModel.canonical({
    name,
    pod_CIDR: podCidr,
    addresses: [{ type: 'NodeInternalIP', address }],
  });
  return { resource: 'node', key: resources.node.key(name, ''), value };
}

const others = [vppNodeValue(2, 'node-b', '192.168.16.2/24')];

async function started(...state: KubeValue[]): Promise<TestNode> {
  const node = new TestNode({ yaml: YAML });
  const { error } = await node.resync([...others, ...state]);
  assert.equal(error, undefined);
  return node;
}

function add(node: TestNode, pod: string, containerId: string, ipamData: string): Promise<Outcome> {
  node.host.namespaces.set(`/run/netns/${containerId}`, node.host.namespaces.size + 1);
  return node.run(
    AddPod.event({
      pod: { namespace: 'default', name: pod },
      containerId,
      interfaceName: 'eth0',
      networkNamespace: `/run/netns/${containerId}`,
      ipamType: 'host-local',
      ipamData,
    }) as Event,
  );
}

const given = (address: string) => JSON.stringify({ version: '4', address, gateway: '10.1.7.1' });

describe('an address of another IPAM', () => {
  it('is read from an IPConfig or a whole result, of the family of the pods', () => {
    assert.equal(externalAddress(given('10.1.7.5/24'), 4), '10.1.7.5');
    const result = JSON.stringify({ ips: [{ address: 'fd00::5/64' }, { address: '10.1.7.6/24' }] });
    assert.equal(externalAddress(result, 4), '10.1.7.6');
    assert.equal(externalAddress(result, 6), 'fd00::5');
    for (const bad of ['', '{}', 'null', '[]', '7', '{"ips":[null]}', '{"address":7}', 'nonsense'])
      assert.throws(() => externalAddress(bad, 4), ExternalAddressError, bad);
    assert.throws(() => externalAddress(given('10.1.7.5/24'), 6), ExternalAddressError);
  });

  it('is what the pod gets, with a route of the host to it', async () => {
    const node = await started();
    assert.equal(addressOf(await add(node, 'web', 'c1', given('10.55.0.5/24'))), '10.55.0.5');
    assert.ok(node.config.has('config/linux/l3/v2/route/10.55.0.5/32/tap-vpp1'));
    assert.deepEqual(node.ipam.podAddresses('c1/eth0'), ['10.55.0.5']);
    await node.del('web', 'c1');
    assert.equal(
      [...node.config.keys()].some((key) => key.includes('10.55.0.5')),
      false,
    );
    assert.equal(node.ipam.allocations().size, 0);
  });

  it('is known after a restart, and forgotten with its container whatever Pod records show', async () => {
    const node = await started();
    await add(node, 'web', 'c1', given('10.1.7.5/24'));
    await node.put(podValue('web', '10.1.7.5'));
    const next = node.restart();
    await next.resync(node.state());
    assert.deepEqual(next.ipam.podAddresses('c1/eth0'), ['10.1.7.5']);
    assert.deepEqual([...next.config].sort(), [...node.config].sort());
    await next.del('web', 'c1');
    assert.equal(addressOf(await add(next, 'db', 'c2', given('10.1.7.5/24'))), '10.1.7.5');
  });

  it('is rejected while a container still owns it, and if the request has none', async () => {
    const node = await started();
    await add(node, 'web', 'c1', given('10.1.7.5/24'));
    const twice = await add(node, 'db', 'c2', given('10.1.7.5/24'));
    assert.match(twice.error!.message, /10\.1\.7\.5 is still owned by default\/web/);
    assert.deepEqual(node.ipam.podAddresses('c1/eth0'), ['10.1.7.5']);
    assert.match((await add(node, 'db', 'c3', '')).error!.message, /the CNI request has no/);
    assert.equal(node.pods.attachments().size, 1);
    // a repeated ADD is no second holder
    assert.equal(addressOf(await add(node, 'web', 'c1', given('10.1.7.5/24'))), '10.1.7.5');
  });
});

describe('an address of another IPAM whose record has an unknown outcome', () => {
  it('is not that of the pod when the request is repeated with another one', async () => {
    const node = await started();
    node.local.afterWrite = ({ keys }) => {
      if (keys.some((key) => key.includes('/address/'))) throw new StoreUnavailableError('lost');
    };
    assert.ok((await add(node, 'web', 'c1', given('10.1.1.5/24'))).error);
    node.local.afterWrite = undefined;
    addressOf(await add(node, 'web', 'c1', given('10.1.1.6/24')));
    const state = [podValue('web', '10.1.1.6')];
    const next = node.restart();
    await next.resync([...others, ...state]);
    assert.deepEqual(next.ipam.podAddresses('c1/eth0'), ['10.1.1.6']);
    assert.deepEqual([...next.ipam.allocations().keys()], ['10.1.1.6']);
  });
});

describe('an address that a node uses', () => {
  const own = nodeValue('node-a', '172.16.0.5');
  const other = nodeValue('node-b', '172.16.0.6');

  for (const [address, user] of [
    ['10.1.1.0', 'the network address of the pod subnet'],
    ['10.1.1.1', 'the gateway of the pods'],
    ['10.1.1.254', 'the NAT loopback'],
    ['10.1.1.255', 'the broadcast address of the pod subnet'],
    ['172.30.1.1', 'an address of the link to the host'],
    ['172.30.1.2', 'an address of the link to the host'],
    ['192.168.16.1', 'an address of node node-a'],
    ['172.16.0.5', 'an address of node node-a'],
    ['192.168.16.2', 'an address of node node-b'],
    ['172.16.0.6', 'an address of node node-b'],
  ])
    it(`is not that of a pod: ${address}`, async () => {
      const node = await started(own, other);
      const before = new Map(node.config);
      const { error } = await add(node, 'web', 'c1', given(`${address}/24`));
      assert.ok(error instanceof ExternalAddressError, String(error));
      assert.equal(
        error.message,
        `default/web: ${address} is ${user}; pods can have 10.1.1.2 to 10.1.1.253`,
      );
      assert.deepEqual(node.config, before);
      assert.equal(node.ipam.allocations().size, 0);
    });

  it('is that of a pod if another node claims an address of the pods', async () => {
    const node = await started(own, nodeValue('node-b', '172.16.0.6', '10.1.1.7'));
    assert.equal(addressOf(await add(node, 'web', 'c1', given('10.1.1.7/24'))), '10.1.1.7');
  });

  it('is counted by the pod subnet in use', async () => {
    const node = await started(withCidr('node-a', '172.16.0.5', '10.1.70.0/24'));
    assert.equal(addressOf(await add(node, 'web', 'c1', given('10.1.1.254/24'))), '10.1.1.254');
    const { error } = await add(node, 'db', 'c2', given('10.1.70.254/24'));
    assert.match(String(error), /10\.1\.70\.2 to 10\.1\.70\.253/);
  });

  it('leaves the broadcast address to the pods of IPv6, which has none', async () => {
    const ipv6 = 'podSubnetCIDR: fd00:1::/48, podSubnetOneNodePrefixLen: 64';
    const link = 'vppHostSubnetCIDR: fd00:2::/48, vppHostSubnetOneNodePrefixLen: 64';
    const others = 'vxlanCIDR: fd00:3::/64, nodeInterconnectCIDR: fd00:4::/64';
    const node = new TestNode({
      yaml: `ipamConfig: {useExternalIPAM: true, ${ipv6}, ${link}, ${others}}`,
    });
    assert.equal((await node.resync()).error, undefined);
    const loopback = await add(node, 'web', 'c1', given('fd00:1:0:1:ffff:ffff:ffff:fffe/64'));
    assert.match(String(loopback.error), /is the NAT loopback/);
    const last = 'fd00:1:0:1:ffff:ffff:ffff:ffff';
    assert.equal(addressOf(await add(node, 'web', 'c1', given(`${last}/64`))), last);
  });
});

describe('an address that others cannot reach', () => {
  const problems = (node: TestNode) =>
    node.ipam.problems!().map(({ code, message }) => `${code} ${message}`);

  it('is a problem as long as the pod has it', async () => {
    const node = await started(withCidr('node-a', '172.16.0.5', '10.1.70.0/24'));
    assert.equal((await add(node, 'web', 'c1', given('10.1.70.5/24'))).error, undefined);
    assert.deepEqual(problems(node), []);
    assert.equal((await add(node, 'db', 'c2', given('10.1.71.5/24'))).error, undefined);
    const expected = [
      'CV_IPAM_POD_OUTSIDE default/db (10.1.71.5) cannot be reached from other nodes: outside of 10.1.70.0/24',
    ];
    assert.deepEqual(problems(node), expected);
    const again = node.restart();
    assert.deepEqual(problems(again), []);
    await again.resync(node.state());
    assert.deepEqual(problems(again), expected);
    await again.del('db', 'c2');
    assert.deepEqual(problems(again), []);
  });

  it('is a problem of the whole node if its pod CIDR is outside of the pod subnet of the cluster', async () => {
    for (const [podCidr, isOutside] of [
      ['10.244.1.0/24', true],
      ['10.0.0.0/8', true],
      ['10.1.0.0/16', false],
      ['10.1.255.0/24', false],
    ] as const) {
      const node = await started(withCidr('node-a', '172.16.0.5', podCidr));
      const text = `CV_IPAM_SUBNET_OUTSIDE the pod subnet of this node, ${podCidr}, is outside of that of the cluster, 10.1.0.0/16: services and hosts cannot reach its pods`;
      assert.deepEqual(problems(node), isOutside ? [text] : []);
    }
  });

  it('ends with another pod CIDR', async () => {
    const node = await started(withCidr('node-a', '172.16.0.5', '10.244.1.0/24'));
    await add(node, 'web', 'c1', given('10.1.70.5/24'));
    assert.equal(problems(node).length, 2);
    await node.put(withCidr('node-a', '172.16.0.5', '10.1.70.0/24'));
    assert.deepEqual(problems(node), []);
  });

  it('is named when this agent allocates the addresses again, which it gives to no other pod', async () => {
    const node = await started(withCidr('node-a', '172.16.0.5', '10.1.70.0/24'));
    await add(node, 'web', 'c1', given('10.1.70.5/24'));
    await add(node, 'inside', 'c2', given('10.1.1.2/24'));
    await add(node, 'finished', 'c3', given('10.1.1.3/24'));
    await node.put(podValue('finished', '10.1.1.3'));
    const internal = node.restart({ yaml: YAML.replace('true', 'false') });
    assert.equal((await internal.resync(node.state())).error, undefined);
    assert.deepEqual(problems(internal), [
      'CV_IPAM_POD_OUTSIDE default/web (10.1.70.5) cannot be reached from other nodes: outside of 10.1.1.0/24',
    ]);
    await internal.del('finished', 'c3');
    assert.equal(addressOf(await internal.add('new', 'c4')), '10.1.1.4');
    await internal.del('web', 'c1');
    assert.deepEqual(problems(internal), []);
  });
});

describe('the pod CIDR of a Node object', () => {
  it('is used for this node and for others, else the computed subnet is', async () => {
    const node = await started(
      withCidr('node-a', '172.16.0.5', '10.1.70.0/24'),
      withCidr('node-b', '172.16.0.6', '10.1.80.0/24'),
    );
    assert.equal(node.ipam.podSubnetThisNode(), '10.1.70.0/24');
    assert.equal(node.ipam.podGateway(), '10.1.70.1');
    assert.ok(
      node.config.has('config/vpp/v2/route/if/vxlanBVI/vrf/1/dst/10.1.80.0/24/gw/192.168.30.2'),
    );
    const plain = await started(
      nodeValue('node-a', '172.16.0.5'),
      nodeValue('node-b', '172.16.0.6'),
    );
    assert.equal(plain.ipam.podSubnetThisNode(), '10.1.1.0/24');
    assert.equal(plain.ipam.podSubnetOtherNode(2), '10.1.2.0/24');
  });

  it('is taken over by a resync when it changes, and by a change of the other node', async () => {
    const node = await started(
      withCidr('node-a', '172.16.0.5', ''),
      withCidr('node-b', '172.16.0.6', ''),
    );
    await add(node, 'web', 'c1', given('10.1.70.5/24'));
    const { changes } = await node.put(withCidr('node-a', '172.16.0.5', '10.1.70.0/24'));
    assert.match(changes.join(), /nodes changed: node-a/);
    assert.equal(node.ipam.podSubnetThisNode(), '10.1.70.0/24');
    assert.deepEqual(node.at('config/vpp/v2/interfaces/podGwLoop')['ip_addresses'], [
      '10.1.70.1/24',
    ]);
    assert.deepEqual(node.ipam.podAddresses('c1/eth0'), ['10.1.70.5']);
    await node.put(withCidr('node-b', '172.16.0.6', '10.1.80.0/24'));
    assert.ok(
      node.config.has('config/vpp/v2/route/if/vxlanBVI/vrf/1/dst/10.1.80.0/24/gw/192.168.30.2'),
    );
    assert.equal(
      [...node.config.keys()].some((key) => key.includes('10.1.2.0/24')),
      false,
    );
  });

  it('is used only if it has the family of the pods and addresses for them', async () => {
    for (const strange of ['10.1.70.9/32', '10.1.70.8/31', '10.1.70.8/30', 'fd00::/64', '::/0']) {
      const node = await started(
        withCidr('node-a', '172.16.0.5', strange),
        withCidr('node-b', '172.16.0.6', strange),
      );
      assert.equal(node.ipam.podSubnetThisNode(), '10.1.1.0/24', strange);
      assert.equal(node.ipam.podSubnetOtherNode(2), '10.1.2.0/24', strange);
      const { followUps } = await node.put(withCidr('node-a', '172.16.0.5', ''));
      assert.equal(followUps.length, 1);
      assert.equal(node.ipam.podSubnetThisNode(), '10.1.1.0/24');
    }
  });

  it('counts no more when it is taken back, with and without a resync', async () => {
    const node = await started(withCidr('node-a', '172.16.0.5', '10.1.70.0/24'));
    await node.put(withCidr('node-a', '172.16.0.5', ''));
    const updated = node.ipam.podSubnetThisNode();
    await node.heal();
    assert.equal(node.ipam.podSubnetThisNode(), '10.1.1.0/24');
    assert.equal(updated, '10.1.1.0/24');
  });

  it('causes an event of its own', async () => {
    const node = await started(withCidr('node-a', '172.16.0.5', '10.1.70.0/24'));
    await node.put(withCidr('node-a', '172.16.0.5', '10.1.71.0/24'));
    assert.equal(node.processed.at(-1), PodCidrChange.id);
  });

  it('is of no interest where this agent gives the addresses', async () => {
    const node = new TestNode();
    await node.resync([withCidr('node-a', '172.16.0.5', '10.1.70.0/24')]);
    assert.equal(node.ipam.podSubnetThisNode(), '10.1.1.0/24');
    const { followUps } = await node.put(withCidr('node-a', '172.16.0.5', '10.1.71.0/24'));
    assert.deepEqual(followUps, []);
  });
});
