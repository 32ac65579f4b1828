/** Records of other nodes with addresses that must not be used: nothing else fails, and they are reported. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import { VXLAN_BVI, vxlanTunnel } from '#plugins/ipv4net/names.ts';
import { MAX_ADDRESSES } from '#plugins/ipv4net/remote-addresses.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { FakeHost } from '../fake-ports.ts';
import { type KubeValue, nodeValue, podValue, TestNode, vppNodeValue } from '../test-node.ts';

const self = nodeValue('node-a', '172.16.0.5');
const b = [nodeValue('node-b', '172.16.0.6'), vppNodeValue(2, 'node-b', '192.168.16.2/24')];
const c = [nodeValue('node-c', '172.16.0.7'), vppNodeValue(3, 'node-c', '192.168.16.3/24')];
const YAML = `
ipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}
nodeConfig: [{nodeName: node-a, gateway: 192.168.16.100}]
`;

async function startedWith(
  others: readonly KubeValue[],
  options: ConstructorParameters<typeof TestNode>[0] = {},
): Promise<TestNode> {
  const node = new TestNode(options);
  const { error } = await node.resync([self, vppNodeValue(1, 'node-a'), ...others]);
  assert.equal(error, undefined);
  return node;
}

/** Texts of the errors that fail readiness. */
const problems = (node: TestNode) => node.nodes.problems!().map(({ message }) => message);
const reported = (node: TestNode, name: string) => node.net.nodeProblems().of(name);
/** Keys of routes that lead into the overlay, also by way of the other table. */
const overlayRoutes = (node: TestNode, network: string) =>
  [...node.config]
    .filter(([key, value]) => {
      const { via_vrf_id, outgoing_interface } = value as Record<string, unknown>;
      const isInto = via_vrf_id === 1 || outgoing_interface === VXLAN_BVI;
      return isInto && key.includes(`/dst/${network}`);
    })
    .map(([key]) => key);
const tunnelTo = (node: TestNode, id: number) =>
  node.config.get(vppInterfaceKey.build({ name: vxlanTunnel(id) })) as
    | { vxlan: { dst_address: string } }
    | undefined;
const ADDRESS_CODE = 'CV_NODESYNC_ADDRESS';

describe('an address that no node can have', () => {
  it('is skipped and reported by name; other addresses and later changes of the node apply', async () => {
    const node = await startedWith(b);
    const { warnings } = await node.put(nodeValue('node-b', 'fe80::1', '172.16.0.6', '0.0.0.0'));
    assert.deepEqual(warnings, [ADDRESS_CODE, ADDRESS_CODE]);
    assert.equal(overlayRoutes(node, '172.16.0.6/32').length, 2);
    assert.deepEqual(problems(node), [], 'readiness stays');
    assert.deepEqual(reported(node, 'node-b'), [
      'ignoring an address of node node-b: fe80::1 is a link-local address',
      'ignoring an address of node node-b: 0.0.0.0 is the unspecified address',
    ]);
    const later = await node.put(nodeValue('node-b', 'fe80::1', '172.16.0.66'));
    assert.deepEqual(later.warnings, [], 'one line for each address, not for each event');
    assert.deepEqual(overlayRoutes(node, '172.16.0.6/32'), []);
    assert.equal(overlayRoutes(node, '172.16.0.66/32').length, 2);
    assert.deepEqual((await node.resync()).warnings, []);
    await node.put(nodeValue('node-b', '172.16.0.6'));
    assert.deepEqual(reported(node, 'node-b'), []);
  });

  it('is no reason to lose the node: it is reached at the address of its VPP', async () => {
    const node = await startedWith([nodeValue('node-b', 'fe80::1'), b[1]!]);
    assert.equal(tunnelTo(node, 2)?.vxlan.dst_address, '192.168.16.2');
  });

  it('is no end of a tunnel, which the list of nodes says', async () => {
    const node = await startedWith(b);
    const invalid = {
      '0.0.0.0/24': 'is the unspecified address',
      '127.0.0.1/24': 'is a loopback address',
      '224.0.0.1/24': 'is a multicast address',
      '255.255.255.255/32': 'is a reserved address',
      '10.1.9.9/24': 'is in the pod subnet',
      '192.168.16.1/24': 'is an address of this node',
      '192.168.16.22': 'has no prefix length',
      rubbish: 'is not an address',
    };
    for (const [address, phrase] of Object.entries(invalid)) {
      const { warnings } = await node.put(vppNodeValue(2, 'node-b', address));
      assert.deepEqual(warnings, [ADDRESS_CODE], address);
      assert.equal(tunnelTo(node, 2), undefined, address);
      const [text] = reported(node, 'node-b');
      assert.equal(text, `ignoring an address of node node-b: ${address} ${phrase}`);
      const link = node.net.nodeLink(node.nodes.allNodes().get('node-b')!);
      assert.equal(link?.whyUnreachable, `it announces ${address}, which ${phrase}`);
      assert.deepEqual(problems(node), []);
    }
    await node.put(vppNodeValue(2, 'node-b', '0.0.0.0/0', '192.168.16.22/24'));
    assert.equal(tunnelTo(node, 2)?.vxlan.dst_address, '192.168.16.22');
    await node.put(b[1]!);
    assert.deepEqual(reported(node, 'node-b'), []);
  });

  it('in the Node object of this node is reported, too', async () => {
    const node = await startedWith(b);
    await node.put(nodeValue('node-a', '172.16.0.5', 'fe80::5'));
    assert.equal(reported(node, 'node-a').length, 1);
    assert.deepEqual(problems(node), []);
  });
});

describe('an address of this node in the record of another one', () => {
  it('never gets a route, and is reported', async () => {
    const node = await startedWith(b);
    assert.notDeepEqual(overlayRoutes(node, '172.16.0.6/32'), []);
    await node.put(nodeValue('node-b', '172.16.0.6', '172.16.0.5', '192.168.16.1'));
    for (const healed of [false, true]) {
      if (healed) await node.resync();
      assert.deepEqual(overlayRoutes(node, '172.16.0.5/32'), []);
      assert.deepEqual(overlayRoutes(node, '192.168.16.1/32'), []);
      assert.notDeepEqual(overlayRoutes(node, '172.16.0.6/32'), []);
      assert.deepEqual(reported(node, 'node-b'), [
        'ignoring an address of node node-b: 172.16.0.5 is an address of this node',
        'ignoring an address of node node-b: 192.168.16.1 is an address of this node',
      ]);
      assert.deepEqual(problems(node), []);
    }
  });

  it('loses its route when this node gets it', async () => {
    const node = await startedWith(b);
    await node.put(nodeValue('node-b', '172.16.0.6', '172.16.0.99'));
    assert.notDeepEqual(overlayRoutes(node, '172.16.0.99/32'), []);
    await node.put(nodeValue('node-a', '172.16.0.5', '172.16.0.99'));
    assert.deepEqual(overlayRoutes(node, '172.16.0.99/32'), []);
    await node.put(self);
    assert.notDeepEqual(overlayRoutes(node, '172.16.0.99/32'), []);
    node.host.hostLinks.push({ name: 'eth1', mtu: 1500, addresses: ['172.16.0.99/24'] });
    await node.put(nodeValue('node-a', '172.16.0.5', '172.16.1.1'));
    assert.deepEqual(overlayRoutes(node, '172.16.0.99/32'), []);
    assert.match(reported(node, 'node-b').join(), /172\.16\.0\.99 is an address of this node/);
  });

  it('is skipped with one line if all nodes have it, as those of Vagrant; tunnels go by VPP', async () => {
    const host = new FakeHost();
    host.hostLinks = [{ name: 'eth0', mtu: 1500, addresses: ['10.0.2.15/24'] }];
    const node = new TestNode({ host });
    const nodes = ['a', 'b', 'c'].map((name) => nodeValue(`node-${name}`, '10.0.2.15'));
    const { error, warnings } = await node.resync([...nodes, b[1]!, c[1]!]);
    assert.equal(error, undefined);
    assert.deepEqual(warnings, [ADDRESS_CODE]);
    assert.equal(tunnelTo(node, 2)?.vxlan.dst_address, '192.168.16.2');
    assert.equal(tunnelTo(node, 3)?.vxlan.dst_address, '192.168.16.3');
    assert.deepEqual(overlayRoutes(node, '10.0.2.15/32'), []);
    assert.deepEqual(problems(node), []);
    const late = await node.put(nodeValue('node-d', '10.0.2.15'));
    await node.put(vppNodeValue(4, 'node-d', '192.168.16.4/24'));
    assert.deepEqual(late.warnings, []);
    assert.equal(tunnelTo(node, 4)?.vxlan.dst_address, '192.168.16.4');
    assert.equal(reported(node, 'node-d').length, 1);
  });
});

describe('an ID after the loss of all records', () => {
  it('is not that of the pods of another node with the same address', async () => {
    const node = new TestNode();
    const address = '10.0.2.15';
    const pods = ['10.1.1.2', '10.1.1.3', '10.1.2.2'].map((ip) => podValue(`p-${ip}`, ip, address));
    const nodes = [nodeValue('node-a', address), nodeValue('node-b', address)];
    assert.equal((await node.resync([...nodes, ...pods])).error, undefined);
    assert.equal(node.nodes.thisNode().id, 3);
  });
});

describe('an address that this node needs', () => {
  it('gets no route into the overlay: the gateway, and the subnets of pods, services and links', async () => {
    const own = {
      '192.168.16.100': 'is the default gateway',
      '10.1.1.1': 'is in the pod subnet',
      '10.1.2.7': 'is in the pod subnet',
      '10.96.0.1': 'is in the subnet of services',
      '172.30.1.2': 'is in the subnet of the links between VPP and the hosts',
      '192.168.30.1': 'is in the VXLAN subnet',
      '169.254.169.254': 'is a link-local address',
    };
    const addresses = Object.keys(own);
    const node = await startedWith(b, { yaml: YAML });
    await node.put(nodeValue('node-b', '172.16.0.6', ...addresses));
    for (const address of addresses)
      assert.deepEqual(overlayRoutes(node, `${address}/32`), [], address);
    assert.notDeepEqual(overlayRoutes(node, '172.16.0.6/32'), []);
    assert.deepEqual(
      reported(node, 'node-b'),
      Object.entries(own).map(
        ([address, phrase]) => `ignoring an address of node node-b: ${address} ${phrase}`,
      ),
    );
  });

  it('is one of the first ones that the other node has: their number is limited', async () => {
    const node = await startedWith(b);
    const addresses = Array.from({ length: 300 }, (_, i) => `11.${i}.0.1`).slice(100);
    await node.put(nodeValue('node-b', ...addresses));
    const [last, first] = [addresses[MAX_ADDRESSES - 1]!, addresses[MAX_ADDRESSES]!];
    assert.notDeepEqual(overlayRoutes(node, `${last}/32`), []);
    assert.deepEqual(overlayRoutes(node, `${first}/32`), []);
    assert.deepEqual(reported(node, 'node-b'), [
      `ignoring an address of node node-b: ${first} is beyond the addresses that a node may have`,
    ]);
  });

  it('is another one than that of the link of the other host', async () => {
    const node = await startedWith(b);
    await node.put(nodeValue('node-b', '172.16.0.6', '172.30.2.2'));
    assert.deepEqual(reported(node, 'node-b'), []);
  });
});

describe('an address of a third node', () => {
  it('is never routed into the overlay if it is the end of the tunnel to that node', async () => {
    for (const comesFirst of [false, true]) {
      const intruder = nodeValue('node-c', '172.16.0.7', '192.168.16.2');
      const node = await startedWith(comesFirst ? [intruder, c[1]!] : [...b, ...c]);
      if (comesFirst) for (const value of b) await node.put(value);
      else await node.put(intruder);
      assert.deepEqual(overlayRoutes(node, '192.168.16.2/32'), []);
      assert.equal(overlayRoutes(node, '172.16.0.7/32').length, 2);
      assert.equal(tunnelTo(node, 2)?.vxlan.dst_address, '192.168.16.2');
      assert.deepEqual(reported(node, 'node-c'), [
        'ignoring an address of node node-c: 192.168.16.2 is the address of the VPP of node node-b',
      ]);
      assert.deepEqual(reported(node, 'node-b'), []);
      await node.remove(b[1]!);
      assert.deepEqual(reported(node, 'node-c'), []);
    }
  });

  it('gets no route if both hosts have it: neither can take over the traffic of the other', async () => {
    const node = await startedWith([...b, ...c]);
    await node.put(nodeValue('node-c', '172.16.0.7', '172.16.0.6'));
    assert.deepEqual(overlayRoutes(node, '172.16.0.6/32'), []);
    assert.equal(overlayRoutes(node, '172.16.0.7/32').length, 2);
    assert.deepEqual(reported(node, 'node-b'), [
      'ignoring an address of node node-b: 172.16.0.6 is an address of node node-c',
    ]);
    assert.deepEqual(reported(node, 'node-c'), [
      'ignoring an address of node node-c: 172.16.0.6 is an address of node node-b',
    ]);
    await node.put(vppNodeValue(4, 'node-d', '192.168.16.4/24'));
    await node.put(nodeValue('node-d', '172.16.0.6'));
    assert.match(
      reported(node, 'node-b').join(),
      /172\.16\.0\.6 is an address of several other nodes/,
    );
    await node.remove(nodeValue('node-d'));
    await node.remove(c[1]!);
    assert.equal(overlayRoutes(node, '172.16.0.6/32').length, 2);
    assert.deepEqual(reported(node, 'node-b'), []);
  });

  it('is reported if it is that of its VPP: two tunnels to one address are impossible', async () => {
    const node = await startedWith([...b, ...c]);
    const { warnings } = await node.put(vppNodeValue(3, 'node-c', '192.168.16.2/24'));
    assert.deepEqual(warnings, [ADDRESS_CODE]);
    assert.match(
      reported(node, 'node-c').join(),
      /cannot be reached: it announces 192\.168\.16\.2/,
    );
    assert.deepEqual((await node.resync()).warnings, []);
  });
});

describe('a node whose Node object differs in upper and lower case', () => {
  const kube = nodeValue('node-b.example.com', '172.16.0.6');
  const vpp = vppNodeValue(2, 'Node-B.example.com', '192.168.16.2/24');

  it('is reported with both names, whichever comes first, until the names are equal', async () => {
    for (const order of [
      [kube, vpp],
      [vpp, kube],
    ]) {
      const node = await startedWith([]);
      for (const value of order) await node.put(value);
      assert.equal(
        reported(node, 'Node-B.example.com').join(),
        'node Node-B.example.com has no Node object: the name of node-b.example.com differs in upper and lower case',
      );
      const link = node.net.nodeLink(node.nodes.allNodes().get('Node-B.example.com')!);
      assert.match(link?.whyUnreachable ?? '', /the name of node-b\.example\.com differs/);
      assert.deepEqual(problems(node), []);
      await node.remove(kube);
      assert.deepEqual(reported(node, 'Node-B.example.com'), []);
    }
  });

  it('is an error of that node itself', async () => {
    const node = new TestNode({ name: 'Node-A' });
    await node.resync([self]);
    assert.match(
      problems(node).join(),
      /node Node-A has no Node object: the name of node-a differs/,
    );
    const renamed = await node.put(nodeValue('Node-A', '172.16.0.5'));
    assert.equal(renamed.error, undefined);
    assert.deepEqual(problems(node), []);
  });
});

describe('a node ID without usable addresses', () => {
  const key = (id: number) => `/vnf-agent/contiv-ksr/allocatedIDs/${id}`;

  async function full(): Promise<MemoryStore> {
    const cluster = new MemoryStore();
    for (let id = 1; id < 255; id++)
      await cluster.put(key(id), JSON.stringify({ id, name: `other-${id}` }));
    return cluster;
  }

  it('is not allocated: 255 of a /24 has the broadcast address', async () => {
    const cluster = await full();
    const { error } = await new TestNode({ cluster }).resync();
    assert.match(error!.message, /no ID is left: node ID 255: .*broadcast address/);
    assert.equal(await cluster.get(key(255)), undefined);
    await cluster.delete(key(254));
    const node = new TestNode({ cluster });
    assert.equal((await node.resync()).error, undefined);
    assert.equal(node.nodes.thisNode().id, 254);
  });

  it('is kept by a node that has it, and reported', async () => {
    const cluster = await full();
    await cluster.put(key(255), '{"id":255,"name":"node-a"}');
    const node = new TestNode({ cluster });
    assert.equal((await node.resync()).error, undefined);
    assert.equal(node.nodes.thisNode().id, 255);
    assert.match(problems(node).join(), /node ID 255: .*192\.168\.16\.255\/24 is the broadcast/);
  });
});
