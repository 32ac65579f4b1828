/** Resyncs that a later handler aborts: the node keeps the settings of before. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeConfigModel } from '#kubernetes/models/node-config.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { AbortEventError } from '#plugins/controller/api/errors.ts';
import { FakeStn } from '../fake-ports.ts';
import { fakeVppWithNics } from '../ipv4net/vpp-with.ts';
import { type KubeValue, TestNode } from '../test-node.ts';

const YAML =
  'crdNodeConfigurationDisabled: false\nipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}';

function nodeConfig(input: Parameters<typeof nodeConfigModel.canonical>[0]): KubeValue {
  const value = nodeConfigModel.canonical({ node_name: 'node-a', ...input });
  return { resource: 'nodeconfig', key: resources.nodeconfig.key('node-a', ''), value };
}

const first = nodeConfig({
  main_vpp_interface: { interface_name: 'Gig1', ip: '10.0.0.1/24' },
  gateway: '10.0.0.254',
});
const second = nodeConfig({
  main_vpp_interface: { interface_name: 'Gig2', ip: '10.0.0.2/24' },
  nat_external_traffic: true,
});
const invalid = nodeConfig({ main_vpp_interface: { interface_name: 'Gig2', ip: 'x' } });

function stateOf({ conf }: TestNode) {
  return {
    main: conf.mainInterface(),
    others: conf.otherInterfaces(),
    gateway: conf.defaultGateways(),
    nat: conf.natExternalTraffic(),
    stn: conf.stn(),
    verdict: conf.nodeConfigVerdict(),
    problems: (conf.problems?.() ?? []).map(({ message }) => message),
  };
}

for (const [name, changed] of Object.entries({ valid: second, invalid }))
  test(`a ${name} NodeConfig whose resync is aborted changes no setting, and the next resync uses it`, async () => {
    const node = new TestNode({ yaml: YAML, vpp: fakeVppWithNics('Gig1', 'Gig2') });
    await node.resync([first]);
    const before = stateOf(node);
    const endAborting = node.abortResyncs();
    await node.put(changed);
    assert.ok((await node.heal()).error instanceof AbortEventError);
    assert.deepEqual(stateOf(node), before);

    const other = new TestNode({ yaml: YAML, vpp: fakeVppWithNics('Gig1', 'Gig2') });
    await other.resync([first]);
    await other.put(changed);
    endAborting();
    await node.heal();
    assert.deepEqual(stateOf(node), stateOf(other));
  });

test('before the first successful resync the settings are those of the file', async () => {
  const node = new TestNode({ yaml: YAML, vpp: fakeVppWithNics('Gig1', 'Gig2') });
  const before = stateOf(node);
  node.abortResyncs();
  assert.ok((await node.resync([second])).error instanceof AbortEventError);
  assert.deepEqual(stateOf(node), before);
});

test('the NodeConfig of an aborted resync is no last valid one of the running agent', async () => {
  const node = new TestNode({ yaml: YAML, vpp: fakeVppWithNics('Gig1', 'Gig2') });
  await node.resync([first]);
  const before = stateOf(node);
  const endAborting = node.abortResyncs();
  await node.put(second);
  endAborting();
  await node.put(invalid);
  assert.deepEqual(node.conf.mainInterface(), before.main);

  const restarted = node.restart();
  await restarted.resync([invalid]);
  assert.deepEqual(restarted.conf.mainInterface(), before.main);
});

test('the NIC that an aborted resync has asked for is not the one that VPP has taken over', async () => {
  const stn = new FakeStn();
  for (const [name, address] of [
    ['eth3', '10.3.0.5/24'],
    ['eth4', '10.4.0.5/24'],
  ] as const)
    stn.stolen.set(name, { pciAddress: name, kernelDriver: '', addresses: [address], routes: [] });
  const node = new TestNode({ yaml: `${YAML}\nstealInterface: eth3`, stn });
  await node.resync([]);
  const before = stateOf(node);
  node.abortResyncs();
  const change = nodeConfig({ steal_interface: 'eth4' });
  await node.put(change);
  assert.deepEqual(stateOf(node), before);
  const { followUps } = await node.remove(change);
  assert.deepEqual(followUps, [], 'the node is configured so already');
});
