/** An address that a service and the record of another node have: one decision about routes and mappings, in any order. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keys, startedNode } from '../ipv4net/wired-node.ts';
import { type KubeValue, nodeValue, type TestNode, vppNodeValue } from '../test-node.ts';
import { endpointsValue, localPod, serviceValue } from './service-values.ts';

const CLUSTER_IP = '10.96.0.10';
const EXTERNAL_IP = '198.51.100.7';
const LOAD_BALANCER_IP = '203.0.113.9';

const service = [
  serviceValue('web', CLUSTER_IP, {
    service_type: 'LoadBalancer',
    external_ips: [EXTERNAL_IP],
    lb_ingress_ips: [LOAD_BALANCER_IP],
  }),
  endpointsValue('web', [localPod(2)]),
];
const plainNode = nodeValue('node-c', '172.16.0.7');
const plainVpp = vppNodeValue(3, 'node-c', '192.168.16.3/24');

/** Addresses at which the service is reached. */
function served(node: TestNode): string[] {
  const value = node.config.get('config/vpp/nat/v2/dnat44/default/web');
  const { st_mappings = [] } = (value ?? {}) as { st_mappings?: { external_ip: string }[] };
  return [...new Set(st_mappings.map(({ external_ip }) => external_ip))].sort();
}

function whyNotServed(node: TestNode, address: string): (string | undefined)[] {
  const found = node.services.describeService('default/web')?.addresses ?? [];
  return found.filter((one) => one.address === address).map((one) => one.whyNotRendered);
}

describe('an external address of a service that is one of the etcd of the agent', () => {
  const why = async (...etcdEndpoints: readonly string[]) => {
    const node = await startedNode({ etcdEndpoints });
    for (const one of service) assert.equal((await node.put(one)).error, undefined);
    const hasNone = !served(node).includes(EXTERNAL_IP);
    const [reason] = whyNotServed(node, EXTERNAL_IP);
    assert.equal(reason !== undefined, hasNone);
    return reason;
  };

  it('is not served, at no port', async () => {
    const refused = new RegExp(`${EXTERNAL_IP} is an address of etcd|TCP port 80 for etcd`);
    for (const endpoint of [
      `http://${EXTERNAL_IP}:2379`,
      `${EXTERNAL_IP}:32379`,
      `https://${EXTERNAL_IP}:80/`,
    ])
      assert.match((await why('http://127.0.0.1:2379', endpoint)) ?? '', refused, endpoint);
  });

  it('is served, if etcd has another one, or a name', async () => {
    const others = ['http://198.51.100.8:80', 'http://[2001:db8::1]:2379', 'etcd.example:2379', ''];
    for (const endpoint of others) assert.equal(await why(endpoint), undefined, endpoint);
  });
});

/** Number of routes to the address of a node. */
const routesTo = (node: TestNode, address: string) => keys(node, `/dst/${address}/32/`).length;

/** The same changes in both orders, after which the state is the same. */
async function inBothOrders(
  claim: readonly KubeValue[],
  check: (node: TestNode) => void,
): Promise<void> {
  for (const changes of [
    [...service, ...claim],
    [...claim, ...service],
  ]) {
    const node = await startedNode();
    await node.put(plainVpp);
    await node.put(plainNode);
    for (const change of changes) assert.equal((await node.put(change)).error, undefined);
    check(node);
    assert.deepEqual(node.nodes.problems?.() ?? [], [], 'readiness stays');
    const resynced = new Map(node.config);
    await node.resync();
    assert.deepEqual(node.config, resynced);
    for (const change of [plainVpp, plainNode]) await node.put(change);
    assert.deepEqual(served(node), [CLUSTER_IP, EXTERNAL_IP, LOAD_BALANCER_IP].sort());
    for (const address of [CLUSTER_IP, EXTERNAL_IP, LOAD_BALANCER_IP])
      assert.equal(routesTo(node, address), 0, address);
  }
}

describe('a Node object with the address of a service', () => {
  it('gets no route if it is a cluster IP, which stays with the service; the node is reported', async () => {
    await inBothOrders([nodeValue('node-c', '172.16.0.7', CLUSTER_IP)], (node) => {
      assert.equal(routesTo(node, CLUSTER_IP), 0);
      assert.equal(routesTo(node, '172.16.0.7'), 2);
      assert.ok(served(node).includes(CLUSTER_IP));
      assert.deepEqual(node.net.nodeProblems().of('node-c'), [
        `ignoring an address of node node-c: ${CLUSTER_IP} is in the subnet of services`,
      ]);
    });
  });

  for (const address of [EXTERNAL_IP, LOAD_BALANCER_IP])
    it(`has it if it is an external one (${address}), until it has it no more; the service says so`, async () => {
      await inBothOrders([nodeValue('node-c', '172.16.0.7', address)], (node) => {
        assert.equal(routesTo(node, address), 2);
        assert.ok(!served(node).includes(address));
        assert.deepEqual(whyNotServed(node, address), [
          `${address} is an address of node node-c, which serves it`,
        ]);
        assert.deepEqual(node.net.nodeProblems().of('node-c'), []);
      });
    });
});

describe('the record of a VPP with the address of a service', () => {
  it('takes external addresses from the service, because packets between the nodes need them', async () => {
    const claim = [vppNodeValue(3, 'node-c', `${EXTERNAL_IP}/24`)];
    await inBothOrders(claim, (node) => {
      assert.ok(!served(node).includes(EXTERNAL_IP));
      assert.deepEqual(whyNotServed(node, EXTERNAL_IP), [
        `${EXTERNAL_IP} is an address of node node-c, which serves it`,
      ]);
    });
  });

  it('takes no cluster IP from the service', async () => {
    await inBothOrders([vppNodeValue(3, 'node-c', `${CLUSTER_IP}/24`)], (node) => {
      assert.ok(served(node).includes(CLUSTER_IP));
    });
  });
});
