/** An agent whose kernel reports connections: documents, readiness and undeploy. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FlowsDocument } from '#documents/flows.ts';
import { SimFlowSource } from '#simulator/linux/flow-source.ts';
import { opened } from '../../flows/connection-events.ts';
import { makeNode, prepareAgent, type RunningAgent, startAgent, until } from './harness.ts';
import { create, web } from './test-pods.ts';

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

  it('go with undeploy', async () => {
    const { node, flowSource, options } = flowNode();
    await prepareAgent(node, options).agent.undeploy();
    assert.deepEqual(flowSource.lostParts(), ['no program runs at connection']);
  });
});
