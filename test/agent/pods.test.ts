import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { expectedConfiguration } from './expected.ts';
import {
  addPod,
  cniRequest,
  makeNode,
  type Node,
  reflectPod,
  replyAddress,
  startAgent,
  type TestPod,
  unreflectPod,
  until,
} from './harness.ts';

const web: TestPod = { name: 'web', containerId: 'a'.repeat(64), netns: '/run/netns/web' };
const db: TestPod = { name: 'db', containerId: 'b'.repeat(64), netns: '/run/netns/db' };

/** Everything that is configured, in one comparable piece. */
async function configuration(node: Node) {
  const { entries } = await node.local.list('local/');
  return {
    vpp: node.vpp.snapshot(),
    linux: node.linux.snapshot(),
    local: entries.filter(({ key }) => key !== 'local/ipam/last'),
  };
}

for (const useTAPInterfaces of [true, false]) {
  describe(`pods by ${useTAPInterfaces ? 'TAP' : 'VETH + AF_PACKET'}`, () => {
    const contiv = { useTAPInterfaces };

    it('are configured as written out, answered to CNI, and leave nothing behind', async () => {
      const node = makeNode();
      await using running = await startAgent(node, { contiv });
      const empty = await configuration(node);

      const reply = await addPod(running, web);
      assert.equal(reply.error, '');
      assert.equal(reply.result, 0);
      assert.equal(replyAddress(reply), '10.1.1.2');
      assert.deepEqual(reply.routes, [{ dst: '0.0.0.0/0', gw: '10.1.1.1' }]);
      assert.equal(reply.interfaces[0]!.ip_addresses[0]!.gateway, '10.1.1.1');
      assert.equal(replyAddress(await addPod(running, db)), '10.1.1.3');
      assert.deepEqual(
        { vpp: node.vpp.snapshot(), linux: node.linux.snapshot() },
        expectedConfiguration(useTAPInterfaces ? 'tap' : 'veth'),
      );

      for (const pod of [web, db])
        await reflectPod(node, pod, pod === web ? '10.1.1.2' : '10.1.1.3');
      for (const pod of [web, db]) {
        assert.equal((await running.client.delete(cniRequest(pod))).result, 0);
        node.linux.removeNamespace(pod.netns);
        await unreflectPod(node, pod);
      }
      await until(async () => (await node.local.list('local/ipam/address')).entries.length === 0);
      assert.deepEqual(await configuration(node), empty);
    });

    it('are undone in reverse when VPP refuses any request, and CNI gets the error', async () => {
      for (let n = 1; ; n++) {
        const node = makeNode();
        await using running = await startAgent(node, { contiv });
        const before = await configuration(node);
        const refused = node.vpp.refuse(n);
        const reply = await addPod(running, web);
        if (!refused.happened) {
          assert.equal(reply.result, 0);
          assert.ok(n > 5, `only ${n} requests`);
          break;
        }
        assert.equal(reply.result, 1, `request ${n} (${refused.name}) was refused in vain`);
        assert.match(reply.error, /VPP answered/);
        node.linux.removeNamespace(web.netns);
        assert.deepEqual(await configuration(node), before, `after request ${n} (${refused.name})`);
        const again = await addPod(running, web);
        assert.equal(again.error, '');
      }
    });
  });
}

describe('bad input', () => {
  it('is named and skipped, and the agent goes on', async () => {
    const node = makeNode();
    await node.cluster.put('/vnf-agent/contiv-ksr/k8s/pod/bad/namespace/x', '{not json');
    await using running = await startAgent(node);
    await node.cluster.put('/vnf-agent/contiv-ksr/k8s/pod/worse/namespace/x', '{"name": 7}');
    await until(
      () => running.logged.filter((line) => JSON.stringify(line).includes('k8s/pod/')).length >= 2,
    );
    const texts = running.logged.map((line) => JSON.stringify(line));
    for (const key of ['k8s/pod/bad/namespace/x', 'k8s/pod/worse/namespace/x'])
      assert.ok(
        texts.some((text) => text.includes(key)),
        key,
      );

    const reply = await running.client.add({
      ...cniRequest(web),
      extra_arguments: 'K8S_POD_NAMESPACE=default',
    });
    assert.equal(reply.result, 1);
    assert.match(reply.error, /K8S_POD_NAME/);
    assert.equal((await addPod(running, web)).error, '');
  });
});

describe('operators', () => {
  it('see probes, history, configuration, addresses and metrics', async () => {
    const node = makeNode();
    await using running = await startAgent(node);
    await addPod(running, web);
    assert.equal((await running.get('/liveness')).status, 200);
    assert.equal((await running.get('/readiness')).status, 200);

    const history = (await running.get('/controller/event-history')).body as {
      SeqNum: number;
      Name: string;
      Txn: { SeqNum: number } | null;
    }[];
    assert.deepEqual(
      history.map(({ SeqNum, Name }) => `${SeqNum} ${Name}`),
      ['0 Database Resync', '1 Add Pod default/web'],
    );
    assert.ok(history[1]!.Txn, 'with its transaction');

    const dump = await running.get('/scheduler/dump?descriptor=vpp-interface&view=SB');
    assert.equal(dump.status, 200);
    assert.match(JSON.stringify(dump.body), /vpp-tap-aaaa/);

    const ipam = (await running.get('/contiv/v1/ipam')).body as Record<string, unknown>;
    assert.equal(ipam['nodeId'], 1);
    assert.equal(ipam['nodeName'], 'node1');
    assert.equal(ipam['podSubnetThisNode'], '10.1.1.0/24');
    const metrics = await fetch(`http://127.0.0.1:${running.agent.port}/metrics`);
    assert.match(await metrics.text(), /contiv_controller_events_total\{.*add-pod/);
  });

  it('find both boxes of every event and of every transaction in the log', async () => {
    await using running = await startAgent(makeNode());
    await addPod(running, web);
    const text = running.printed.join('');
    const boxes = text.split('\n').filter((line) => /^[<>]{130}$/.test(line));
    assert.equal(boxes.length, 8);
    for (const line of text.split('\n')) if (/^[*]/.test(line)) assert.equal(line.length, 130);
    assert.match(text, /NEW EVENT: Add Pod default\/web/);
    assert.match(text, /FINALIZED EVENT: Add Pod default\/web/);
  });
});

describe('VPP that is started anew', () => {
  it('gets its configuration back by a healing resync of its own', async () => {
    const node = makeNode();
    await using running = await startAgent(node);
    await addPod(running, web);
    const before = node.vpp.snapshot();
    node.vpp.crash();
    node.vpp.start();
    await until(async () => {
      const { body } = await running.get('/controller/event-history');
      const last = (body as { Description: string }[]).at(-1);
      return last?.Description === 'Healing Resync (After error: VPP reconnected)';
    });
    assert.deepEqual(node.vpp.snapshot(), before);
  });
});
