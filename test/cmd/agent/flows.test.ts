/** An agent whose kernel reports connections: documents, readiness and undeploy. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FlowsDocument } from '#documents/flows.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { podModel } from '#kubernetes/models/pod.ts';
import { policyModel } from '#kubernetes/models/policy.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { SimFlowSource } from '#simulator/linux/flow-source.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';
import { bundledDefinitions } from '#vpp/binapi/bundled-definitions.ts';
import { Catalog } from '#vpp/binapi/catalog.ts';
import { selectDefinitions } from '#vpp/binapi/gen/select.ts';
import { sessionMessages, usedMessages } from '#vpp/binapi/used-messages.ts';
import { ended, opened, unanswered } from '../../flows/connection-events.ts';
import { makeNode, prepareAgent, type RunningAgent, startAgent, until } from './harness.ts';
import { writeChange } from './kube-change.ts';
import { create, db, web } from './test-pods.ts';

async function flowsOf(running: RunningAgent): Promise<FlowsDocument> {
  return (await running.get('/contiv/v1/flows')).body as FlowsDocument;
}

function flowNode() {
  const node = makeNode();
  const flowSource = new SimFlowSource();
  const options = { environment: { ...node, connectVpp: node.vpp.connect(), flowSource } };
  return { node, flowSource, options };
}

describe('flows of an agent', () => {
  it('have the names of its pods, before and after Kubernetes knows their addresses', async () => {
    const { node, flowSource, options } = flowNode();
    await using running = await startAgent(node, options);
    const address = await create(running, web);
    flowSource.push(opened('1', { local: { address, port: 1 } }));
    await until(async () => (await flowsOf(running)).flows.length === 1);
    const { node: label, flows, state } = await flowsOf(running);
    assert.equal(label, 'node1');
    assert.equal(flows[0]?.client.name, 'default/web');
    assert.equal(flows[0]?.isSimulated, true);
    assert.equal(state.isRecording, true);
  });

  it('have the names of pods that were known before the agent started', async () => {
    const { node, flowSource, options } = flowNode();
    const address = '10.1.9.9';
    const key = resources.pod.key('far', 'default');
    const value = podModel.canonical({ name: 'far', namespace: 'default', ip_address: address });
    await writeChange(node, { resource: 'pod', key, value });
    flowSource.push(opened('1', { remote: { address, port: 80 } }));
    await using running = await startAgent(node, options);
    await until(async () => (await flowsOf(running)).flows.length === 1);
    assert.equal((await flowsOf(running)).flows[0]?.server.name, 'default/far');
  });

  it('name the policy that denies them', async () => {
    const { node, flowSource, options } = flowNode();
    await using running = await startAgent(node, options);
    const [client, server] = [await create(running, web), await create(running, db)];
    const value = policyModel.canonical({
      name: 'closed',
      namespace: 'default',
      pods: {},
      policy_type: 'INGRESS',
    });
    await writeChange(node, {
      resource: 'policy',
      key: resources.policy.key('closed', 'default'),
      value,
    });
    const event = { local: { address: client, port: 1 }, remote: { address: server, port: 80 } };
    await until(async () => {
      const id = String(performance.now());
      flowSource.push(unanswered(id, event));
      await until(async () => (await flowsOf(running)).flows.some((one) => one.id === id));
      const { flows } = await flowsOf(running);
      return flows.some(({ verdict }) => verdict === 'denied');
    });
    const { flows } = await flowsOf(running);
    assert.equal(
      flows.find(({ verdict }) => verdict === 'denied')?.reason,
      'default/db is isolated for ingress by default/closed: no rule permits TCP port 80 from default/web',
    );
  });

  it('say why there was no answer, or a refusal', async () => {
    const { node, flowSource, options } = flowNode();
    await using running = await startAgent(node, options);
    const [client, server] = [await create(running, web), await create(running, db)];
    const local = { address: client, port: 1 };
    flowSource.push(
      ended('1', { local, remote: { address: server, port: 9 }, outcome: 'refused' }),
      unanswered('2', { local, remote: { address: '10.1.77.7', port: 80 } }),
      unanswered('3', { local, remote: { address: '10.96.3.3', port: 80 } }),
    );
    const reasonOf = async (id: string) =>
      (await flowsOf(running)).flows.find((one) => one.id === id)?.reason;
    await until(async () => /no service/.test((await reasonOf('3')) ?? ''));
    assert.equal(await reasonOf('1'), 'no process listens at TCP port 9 of default/db');
    assert.equal(await reasonOf('2'), 'no pod has 10.1.77.7, and no node has its subnet');
    assert.equal(await reasonOf('3'), 'no service has 10.96.3.3, TCP port 80');
  });

  it('are none where they are not configured', async () => {
    await using running = await startAgent(makeNode());
    const { flows, state } = await flowsOf(running);
    assert.deepEqual(flows, []);
    assert.equal(state.isRecording, false);
    const { body } = await running.get('/readiness');
    assert.doesNotMatch(JSON.stringify(body), /flows/);
  });

  it('say why there are none, and the node is ready', async () => {
    const node = makeNode();
    const environment = { ...node, connectVpp: node.vpp.connect(), flowFault: 'no bpf' };
    await using running = await startAgent(node, { environment });
    const { status, body } = await running.get('/readiness');
    assert.equal(status, 200);
    assert.match(JSON.stringify(body), /no bpf/);
  });

  it('of memifs are not counted by a VPP without flowprobe, which is reported; the memif is configured', async () => {
    const { node, options } = flowNode();
    const messages = usedMessages.filter((name) => !name.startsWith('flowprobe_'));
    const catalog = new Catalog(
      selectDefinitions(bundledDefinitions, [...sessionMessages, ...messages]),
    );
    const vpp = new SimVpp({
      host: node.linux,
      clock: systemClock,
      random: systemRandom,
      log: silentLogger,
      catalog,
    });
    const memif = vppInterfaceModel.canonical({
      name: 'memif-pod',
      type: 'MEMIF',
      memif: { id: 1, master: true, socket_filename: '/run/pod/memif.sock' },
    });
    const values = { [vppInterfaceModel.key(memif)]: memif };
    const environment = { ...options.environment, connectVpp: vpp.connect() };
    const externalSources = [{ label: 'operator', snapshot: async () => values }];
    await using running = await startAgent(node, { environment, externalSources });
    const { status, body } = await running.get('/readiness');
    assert.equal(status, 200);
    assert.match(JSON.stringify(body), /VPP has no flowprobe_plugin\.so/);
    assert.equal(running.agent.controller.history.records.at(-1)?.transactionError, undefined);
    assert.match(JSON.stringify(vpp.snapshot()), /memif/);
  });

  it('go with undeploy', async () => {
    const { node, flowSource, options } = flowNode();
    await prepareAgent(node, options).agent.undeploy();
    assert.deepEqual(flowSource.lostParts(), ['no program runs at connection']);
  });
});
