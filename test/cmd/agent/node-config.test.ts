/** A node that is configured by its NodeConfig: it waits for the first one, and follows the changes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import { type AgentOptions, addPod, type Node, startAgent, until } from './harness.ts';
import { nodeWithNics, Scenario, section, setNodeConfig, tellOfNode } from './scenario.ts';
import { web } from './test-pods.ts';

const KEY = '/vnf-agent/contiv-ksr/k8s/nodeconfig/node1';
const options: AgentOptions = {
  contiv: { crdNodeConfigurationDisabled: false, nodeConfig: [section({ ip: '10.1.0.1/24' })] },
  controller: {
    delayAfterErrorHealing: '20ms',
    delayLocalResync: '50ms',
    startupResyncDeadline: '200ms',
    remoteDBProbingInterval: '30ms',
  },
};
const byCrd = { main_vpp_interface: { interface_name: 'host-eth1', ip: '10.9.0.1/24' } };

const start = (node: Node, more: AgentOptions = {}) =>
  Scenario.start({ ...options, waits: true, ...more }, node);

async function components({ running }: Scenario) {
  const { status, body } = await running.get('/readiness');
  const { PluginStatus } = body as { PluginStatus: Record<string, { error?: string }> };
  return { status, reason: PluginStatus['node-config']?.error ?? '' };
}

async function mainAddresses(scenario: Scenario): Promise<string[]> {
  const found = await scenario.configured('interface/host-eth1/address/');
  return found.map((key) => key.replace(/.*address\/(static\/)?/, ''));
}

async function assertWaits(scenario: Scenario): Promise<void> {
  await until(async () => (await components(scenario)).reason !== '');
  const { status, reason } = await components(scenario);
  assert.equal(status, 500);
  assert.match(reason, /waiting for the NodeConfig of node "node1".*CV_CONF_NODE_CONFIG_MISSING/);
  const reply = await addPod(scenario.running, web);
  assert.equal(reply.result, 11, reply.error);
  assert.match(reply.error, /waiting for the NodeConfig/);
  assert.equal((await scenario.running.get('/liveness')).status, 200);
  assert.equal(scenario.running.agent.controller.resyncCount, 0);
}

describe('a node that is configured by its NodeConfig', { timeout: 120_000 }, () => {
  it('changes nothing in VPP until it has one, past the deadline of the startup', async () => {
    const node = await nodeWithNics();
    const before = node.vpp.snapshot();
    await using scenario = await start(node);
    await assertWaits(scenario);
    await new Promise((resolve) => setTimeout(resolve, 500));
    // other records come and go meanwhile
    await tellOfNode(node, 'node2', { address: '172.16.0.6', id: 2, vpp: '10.9.0.2/24' });
    await assertWaits(scenario);
    assert.deepEqual(node.vpp.snapshot(), before);
    assert.deepEqual(await scenario.configured(''), []);

    await setNodeConfig(node, byCrd);
    await until(async () => (await components(scenario)).status === 200);
    assert.deepEqual(await mainAddresses(scenario), ['10.9.0.1/24']);
    assert.equal((await addPod(scenario.running, web)).error, '');
    await scenario.assertSettled();
    // node2 is connected although its records came while the node waited
    assert.notDeepEqual(await scenario.configured('dst/10.1.2.0/24'), []);
  });

  it('does not wait when it had one before, also without its database', async () => {
    const node = await nodeWithNics();
    await setNodeConfig(node, byCrd);
    {
      await using scenario = await start(node);
      await until(async () => (await components(scenario)).status === 200);
      await until(async () => (await node.mirror.get(KEY)) !== undefined);
    }
    const cluster = new FaultInjectingStore(node.cluster);
    cluster.disconnect('no route to host');
    // the mirror has not got the last write
    await node.mirror.delete(KEY);
    const environment = { ...node, cluster, connectVpp: node.vpp.connect() };
    await using scenario = await start(node, { environment });
    await until(() => scenario.running.agent.controller.isSynced);
    assert.deepEqual(await mainAddresses(scenario), ['10.9.0.1/24']);
    assert.equal((await addPod(scenario.running, web)).error, '');
    cluster.reconnect();
    await until(async () => (await components(scenario)).status === 200);
    assert.deepEqual(await mainAddresses(scenario), ['10.9.0.1/24']);
  });

  it('waits without its database, and for its NodeConfig when it is available', async () => {
    const node = await nodeWithNics();
    const cluster = new FaultInjectingStore(node.cluster);
    cluster.disconnect('no route to host');
    const environment = { ...node, cluster, connectVpp: node.vpp.connect() };
    await using scenario = await start(node, { environment });
    await assertWaits(scenario);
    await new Promise((resolve) => setTimeout(resolve, 500));
    await assertWaits(scenario);
    cluster.reconnect();
    await assertWaits(scenario);
    await setNodeConfig(node, byCrd);
    await until(async () => (await components(scenario)).status === 200);
    assert.deepEqual(await mainAddresses(scenario), ['10.9.0.1/24']);
  });

  it('starts with an invalid one as far as it is valid', async () => {
    const node = await nodeWithNics();
    await using scenario = await start(node);
    await assertWaits(scenario);
    await setNodeConfig(node, { main_vpp_interface: { interface_name: 'host-eth9' } });
    await until(() => scenario.running.agent.controller.isSynced);
    assert.equal((await addPod(scenario.running, web)).error, '');
    node.linux.addNic('eth9');
    await until(async () => (await components(scenario)).status === 200);
    assert.deepEqual(await scenario.configured('interface/host-eth1'), []);
  });

  it('uses contiv.conf after its NodeConfig was deleted, also after a restart', async () => {
    const node = await nodeWithNics();
    await setNodeConfig(node, byCrd);
    {
      await using scenario = await start(node);
      await until(async () => (await components(scenario)).status === 200);
      await node.cluster.delete(KEY);
      await until(async () => (await mainAddresses(scenario))[0] === '10.1.0.1/24');
      await scenario.assertSettled();
    }
    await using scenario = await start(node);
    await until(async () => (await components(scenario)).status === 200);
    assert.deepEqual(await mainAddresses(scenario), ['10.1.0.1/24']);
  });
});

async function published(node: Node) {
  const text = await node.cluster.get('/vnf-agent/contiv-nodeconfig/node1');
  const { since, node_config, ...status } = JSON.parse(text ?? '{}') as Record<string, unknown>;
  if (text !== undefined) assert.match(String(since), /^\d{4}-.*Z$/);
  return { ...status, has: node_config !== undefined };
}

async function untilPublished(node: Node, state: string | undefined) {
  await until(async () => ((await published(node)) as { state?: string }).state === state);
  return published(node);
}

describe('the status of a NodeConfig', { timeout: 120_000 }, () => {
  it('is published: waiting, applied, refused, applied again, deleted', async () => {
    const node = await nodeWithNics();
    await using scenario = await start(node);
    assert.deepEqual(await untilPublished(node, 'Waiting'), {
      node_name: 'node1',
      state: 'Waiting',
      message: 'the node waits for its NodeConfig',
      has: false,
    });
    await setNodeConfig(node, byCrd);
    assert.deepEqual(await untilPublished(node, 'Applied'), {
      node_name: 'node1',
      state: 'Applied',
      has: true,
    });
    await setNodeConfig(node, {
      main_vpp_interface: { interface_name: 'host-eth9', ip: '10.9.0/24' },
    });
    assert.deepEqual(await untilPublished(node, 'Refused'), {
      node_name: 'node1',
      state: 'Refused',
      message:
        'mainVPPInterface.ip: "10.9.0/24" is not a valid address with a prefix length; ' +
        'mainVPPInterface.interfaceName: interface "host-eth9" does not exist; ' +
        'the node keeps its last valid configuration',
      refused_fields: [
        {
          field: 'mainVPPInterface.ip',
          reason: '"10.9.0/24" is not a valid address with a prefix length',
        },
        {
          field: 'mainVPPInterface.interfaceName',
          reason: 'interface "host-eth9" does not exist',
        },
      ],
      has: true,
    });
    assert.deepEqual(await mainAddresses(scenario), ['10.9.0.1/24']);
    await setNodeConfig(node, byCrd);
    await untilPublished(node, 'Applied');
    await node.cluster.delete(KEY);
    await untilPublished(node, undefined);
  });

  it('is not written again by a restarted agent, and replaces an invalid record', async () => {
    const node = await nodeWithNics();
    await setNodeConfig(node, byCrd);
    const KEY_OF_STATUS = '/vnf-agent/contiv-nodeconfig/node1';
    await node.cluster.put(KEY_OF_STATUS, 'junk');
    {
      await using _scenario = await start(node);
      await until(async () => (await node.cluster.get(KEY_OF_STATUS)) !== 'junk');
      await untilPublished(node, 'Applied');
    }
    const before = await node.cluster.get(KEY_OF_STATUS);
    await using scenario = await start(node);
    await until(() => scenario.running.agent.controller.isSynced);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    assert.equal(await node.cluster.get(KEY_OF_STATUS), before);
  });

  it('says what is not configured although it is valid', async () => {
    const node = await nodeWithNics();
    // also at every retry
    for (let times = 0; times < 100; times++)
      node.vpp.faults.add(1, { refuse: -1 }, ({ name }) => name === 'sw_interface_add_del_address');
    await setNodeConfig(node, byCrd);
    await using _scenario = await start(node);
    const status = (await untilPublished(node, 'Failed')) as { message?: string };
    assert.match(status.message ?? '', /not configured: .*host-eth1.*10\.9\.0\.1/);
  });

  it('names the setting that disables it', async () => {
    const node = await nodeWithNics();
    await setNodeConfig(node, byCrd);
    const contiv = { ...options.contiv, crdNodeConfigurationDisabled: true };
    await using _scenario = await start(node, { contiv });
    await untilPublished(node, 'Ignored');
  });
});

describe('a node whose file disables NodeConfigs', { timeout: 120_000 }, () => {
  it('does not wait for one', async () => {
    const node = await nodeWithNics();
    const contiv = { ...options.contiv, crdNodeConfigurationDisabled: true };
    await using running = await startAgent(node, { ...options, contiv });
    await until(async () => (await running.get('/readiness')).status === 200);
  });
});
