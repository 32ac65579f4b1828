/** Results of a resync that a later handler aborts: no other component gets them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeConfigModel } from '#kubernetes/models/node-config.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { AbortEventError } from '#plugins/controller/api/errors.ts';
import { podLinkNames } from '#plugins/ipv4net/names.ts';
import { fakeVppWithNics } from './ipv4net/vpp-with.ts';
import { endpointsValue, localPod, serviceValue } from './service/service-values.ts';
import { nodeValue, podValue, TestNode, vppNodeValue } from './test-node.ts';

const own = nodeValue('node-a', '172.16.0.5');

async function startedNode(): Promise<TestNode> {
  const node = new TestNode();
  assert.equal((await node.resync([own])).error, undefined);
  return node;
}

test('problems and health checks of services are those of before', async () => {
  const node = await startedNode();
  const heard: number[] = [];
  node.services.watchHealthChecks((checks) => heard.push(checks.size));
  const endAborting = node.abortResyncs();
  const checked = serviceValue('web', '10.96.0.10', {
    service_type: 'LoadBalancer',
    external_traffic_policy: 'Local',
    health_check_node_port: 31_000,
  });
  const unsupported = serviceValue('sctp', '10.96.0.11', {
    port: [{ name: 'sctp', protocol: 'SCTP', port: 80 }],
  });
  const state = [own, checked, unsupported, endpointsValue('web', [localPod(2)])];
  assert.ok((await node.resync(state)).error instanceof AbortEventError);
  assert.deepEqual([[...node.services.serviceProblems()], heard], [[], []]);
  endAborting();
  assert.equal((await node.heal()).error, undefined);
  assert.deepEqual([...node.services.serviceProblems().keys()], ['default/sctp']);
  assert.deepEqual(heard, [1]);
});

test('problems and overlaps of other nodes are those of before', async () => {
  const node = await startedNode();
  const endAborting = node.abortResyncs();
  const other = [nodeValue('node-b', '172.16.0.6'), vppNodeValue(2, 'node-b', '192.168.16.1/24')];
  const pod = podValue('web', '10.1.1.7', '172.16.0.6');
  const known = () => [node.net.nodeProblems().nodes().length, node.nodes.overlaps()];
  assert.ok((await node.resync([own, ...other, pod])).error instanceof AbortEventError);
  assert.deepEqual(known(), [0, 0]);
  endAborting();
  assert.equal((await node.heal()).error, undefined);
  assert.deepEqual(known(), [1, 1]);
});

test('other nodes get the addresses of this node when a resync has configured it with them', async () => {
  const config = (ip: string) => {
    const main = { interface_name: 'Gig1', ip };
    const value = nodeConfigModel.canonical({ node_name: 'node-a', main_vpp_interface: main });
    return { resource: 'nodeconfig', key: resources.nodeconfig.key('node-a', ''), value } as const;
  };
  const yaml = 'crdNodeConfigurationDisabled: false';
  const node = new TestNode({ yaml, vpp: fakeVppWithNics('Gig1') });
  await node.resync([own, config('10.0.0.1/24')]);
  const published = async () => {
    const text = await node.clusterStore.get('/vnf-agent/contiv-ksr/allocatedIDs/1');
    return JSON.parse(text!).ip_addresses;
  };
  assert.deepEqual(await published(), ['10.0.0.1/24']);
  const endAborting = node.abortResyncs();
  await node.put(config('10.0.0.2/24'));
  assert.deepEqual(await published(), ['10.0.0.1/24']);
  endAborting();
  assert.equal((await node.heal()).error, undefined);
  assert.deepEqual(await published(), ['10.0.0.2/24']);
});

test('an attachment is displaced when a resync has left it out of the configuration', async () => {
  const node = await startedNode();
  assert.equal((await node.add('web', 'c1')).error, undefined);
  node.host.namespaces.set('/run/netns/c1', 100);
  const endAborting = node.abortResyncs();
  assert.ok((await node.heal()).error instanceof AbortEventError);
  assert.equal(node.pods.isDisplaced('c1/eth0'), false);
  endAborting();
  assert.equal((await node.heal()).error, undefined);
  assert.equal(node.pods.isDisplaced('c1/eth0'), true);
});

test('an adopted attachment has the name of its pod when a resync has configured it with that', async () => {
  const node = new TestNode();
  const link = { containerId: 'a1'.repeat(32), interfaceName: 'eth0' };
  const { vpp: tag, linux: logicalName } = podLinkNames(link, true);
  const tap = { swIfIndex: 9, internalName: 'tap9', deviceType: 'virtio', mtu: 1500 };
  node.vpp.nics.push({ ...tap, tag });
  node.host.marked = [
    {
      namespace: '/run/netns/c1',
      namespaceIdentity: { device: 4, inode: 5 },
      name: 'eth0',
      logicalName,
      otherEnd: tag,
      mac: '02:fe:00:00:00:02',
      addresses: ['10.1.1.2/32'],
      neighbors: [],
    },
  ];
  assert.equal((await node.resync([own])).error, undefined);
  const names = () => [...node.pods.attachments().values()].map(({ pod }) => pod.name);
  assert.deepEqual(names(), ['']);
  const endAborting = node.abortResyncs();
  const state = [own, podValue('web', '10.1.1.2')];
  assert.ok((await node.resync(state)).error instanceof AbortEventError);
  assert.deepEqual(names(), ['']);
  endAborting();
  assert.equal((await node.heal()).error, undefined);
  assert.deepEqual(names(), ['web']);
});
