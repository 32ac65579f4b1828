import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreUnavailableError } from '#datastore/api.ts';
import { nodeConfigModel } from '#kubernetes/models/node-config.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { FatalError } from '#plugins/controller/api/errors.ts';
import { fakeVppWithNics } from '../ipv4net/vpp-with.ts';
import { type KubeValue, TestNode } from '../test-node.ts';

const YAML =
  'crdNodeConfigurationDisabled: false\nipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}';

function nodeConfig(ip: string): KubeValue {
  const value = nodeConfigModel.canonical({
    node_name: 'node-a',
    main_vpp_interface: { interface_name: 'Gig1', ip },
  });
  return { resource: 'nodeconfig', key: resources.nodeconfig.key('node-a', ''), value };
}

test('an earlier NodeConfig is written again after a write that failed when it had reached the disk', async () => {
  const first = nodeConfig('10.0.0.1/24');
  const node = new TestNode({ yaml: YAML, vpp: fakeVppWithNics('Gig1') });
  await node.resync([first]);
  const before = new Map(node.config);
  node.local.afterWrite = () => {
    throw new StoreUnavailableError('lost');
  };
  await node.put(nodeConfig('10.0.0.2/24'));
  node.local.afterWrite = undefined;
  await node.put(first);
  assert.deepEqual(node.config, before);

  const restarted = node.restart();
  await restarted.resync([nodeConfig('not-an-ip')]);
  assert.deepEqual(restarted.config, before);
});

test('the last valid NodeConfig is written after a write that failed, also when an invalid one has followed', async () => {
  const node = new TestNode({ yaml: YAML, vpp: fakeVppWithNics('Gig1') });
  await node.resync([nodeConfig('10.0.0.1/24')]);
  node.local.disconnect();
  await node.put(nodeConfig('10.0.0.2/24'));
  const before = new Map(node.config);
  node.local.reconnect();
  await node.put(nodeConfig('not-an-ip'));
  assert.deepEqual(node.config, before);

  const restarted = node.restart();
  await restarted.resync([nodeConfig('not-an-ip')]);
  assert.deepEqual(restarted.config, before);
});

test('an invalid NodeConfig is not applied while the last valid one cannot be read', async () => {
  const node = new TestNode({ yaml: YAML, vpp: fakeVppWithNics('Gig1') });
  await node.resync([nodeConfig('10.0.0.1/24')]);
  const get = node.localStore.get.bind(node.localStore);
  node.localStore.get = async () => {
    throw new StoreUnavailableError('lost');
  };
  const { fatal, isCommitted } = await node.restart().resync([nodeConfig('not-an-ip')]);
  assert.ok(fatal instanceof FatalError);
  assert.equal(isCommitted, false);
  node.localStore.get = get;
  const restarted = node.restart();
  assert.equal((await restarted.resync([nodeConfig('not-an-ip')])).error, undefined);
  assert.deepEqual(restarted.config, node.config);
});
