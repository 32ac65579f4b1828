import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PairTrace } from '#documents/pair-trace.ts';
import { podModel } from '#kubernetes/models/pod.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { until } from '#test/cmd/agent/harness.ts';
import { SimulatedCluster } from '#test/packet-trace/simulated-cluster.ts';

describe('GET /trace/pair to another node', { timeout: 120_000 }, () => {
  let cluster: SimulatedCluster;
  let near = '';
  let far = '';
  before(async () => {
    cluster = await SimulatedCluster.start(true);
    near = await cluster.pod(cluster.nodes[0]!, 'near');
    far = await cluster.pod(cluster.nodes[1]!, 'far');
    const record = podModel.canonical({
      name: 'far',
      namespace: 'default',
      ip_address: far,
      host_ip_address: '172.16.0.2',
    });
    await cluster.nodes[0]!.running.node.cluster.put(
      REFLECTOR_PREFIX + resources.pod.key('far', 'default'),
      valueText(resources.pod, record),
    );
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  const ask = (query: Record<string, string>) =>
    cluster.nodes[0]!.running.get(`/trace/pair?${new URLSearchParams(query)}`);

  it('ends at the tunnel, and says so', async () => {
    await until(
      async () => (await ask({ from: 'default/near', to: 'default/far' })).status === 200,
    );
    const { body } = await ask({ from: 'default/near', to: 'default/far', 'to-port': '80' });
    const { verdict, paths, packet, command } = body as PairTrace;
    assert.equal(packet.source, near);
    assert.equal(packet.destination, far);
    assert.equal(verdict, 'continues');
    const [path] = paths;
    assert.equal(path?.trace.verdict, 'left');
    assert.equal(path.reply, null);
    const { node, address, isTunnel } = path.trace.continuesOn!;
    assert.deepEqual({ node, isTunnel }, { node: 'node2', isTunnel: true });
    assert.match(path.trace.hops.map(({ description }) => description).join(), new RegExp(address));
    assert.equal(command, 'netctl trace default/near default/far --to-port TCP/80');
  });

  it('names the node of a source that is elsewhere', async () => {
    const { status, body } = await ask({ from: 'default/far', to: near });
    assert.equal(status, 404);
    assert.match(JSON.stringify(body), /default\/far is on node node2/);
  });
});
