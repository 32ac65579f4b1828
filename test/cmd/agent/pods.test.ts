import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { routeMetric } from '#plugins/ipv4net/names.ts';
import { configuration } from './configuration.ts';
import {
  addPod,
  cniRequest,
  makeNode as emptyNode,
  type RunningAgent,
  reflectPod,
  replyAddress,
  startAgent,
  until,
} from './harness.ts';
import { Scenario } from './scenario.ts';
import { db, remove, untilNoAddressIsStored, web } from './test-pods.ts';

interface Operation {
  readonly Operation: string;
  readonly Key: string;
  readonly IsRevert?: boolean;
}

/** The last event was reverted: each operation by its inverse, in reverse order. */
async function assertUndoneInReverse(running: RunningAgent): Promise<void> {
  const { body } = await running.get('/controller/event-history?last=1');
  const [{ Handlers, Txn }] = body as [
    {
      Handlers: { Handler: string; Revert: boolean }[];
      Txn: { Executed: Operation[] };
    },
  ];
  const done = Txn.Executed.filter(({ IsRevert }) => !IsRevert);
  const undone = Txn.Executed.filter(({ IsRevert }) => IsRevert);
  assert.ok(done.every((op) => op.Operation === 'CREATE'));
  assert.ok(undone.every((op) => op.Operation === 'DELETE'));
  assert.deepEqual(
    undone.map((op) => op.Key),
    done.map((op) => op.Key).reverse(),
  );
  // service and ipv4net have nothing of their own to undo: the loop restores states and values
  assert.deepEqual(
    Handlers.map(({ Handler, Revert }) => `${Handler}${Revert ? ' reverted' : ''}`),
    [
      'podmanager',
      'ipam',
      'ipv4net',
      'service',
      'policy',
      'policy reverted',
      'ipam reverted',
      'podmanager reverted',
    ],
  );
}

interface Links {
  readonly name: string;
  readonly useTAPInterfaces: boolean;
  /** Whether VPP makes them in the namespaces of the pods. */
  readonly inPlace: boolean;
}

const kinds: readonly Links[] = [
  { name: 'TAP', useTAPInterfaces: true, inPlace: true },
  {
    name: 'TAP, with VPP in a container of its own',
    useTAPInterfaces: true,
    inPlace: false,
  },
  { name: 'VETH + AF_PACKET', useTAPInterfaces: false, inPlace: false },
];

/** The expected configuration of the two pods, reviewed line by line. */
function expected({ useTAPInterfaces, inPlace }: Links): unknown {
  const name = useTAPInterfaces ? 'tap' : 'veth';
  const text = readFileSync(join(import.meta.dirname, 'expected', `${name}.json`), 'utf8');
  return JSON.parse(inPlace ? text : text.replaceAll(/(alias \S*)\/\./g, '$1'));
}

for (const links of kinds) {
  describe(`pods by ${links.name}`, () => {
    const { useTAPInterfaces } = links;
    const contiv = { useTAPInterfaces };
    const makeNode = () => {
      const node = emptyNode();
      node.vpp.seesNamespaces = links.inPlace;
      return node;
    };

    it('are configured as expected, returned to CNI, and leave no orphans', async () => {
      const node = makeNode();
      await using running = await startAgent(node, { contiv });
      const empty = await configuration(node);

      const reply = await addPod(running, web);
      assert.equal(reply.error, '');
      assert.equal(reply.result, 0);
      assert.equal(replyAddress(reply), '10.1.1.2');
      assert.deepEqual(reply.routes, [{ dst: '0.0.0.0/0', gw: '10.1.1.1' }]);
      assert.equal(reply.interfaces.at(-1)!.ip_addresses[0]!.gateway, '10.1.1.1');
      assert.equal(replyAddress(await addPod(running, db)), '10.1.1.3');
      assert.deepEqual(await configuration(node, [web.netns, db.netns]), expected(links));

      for (const pod of [web, db])
        await reflectPod(node, pod, pod === web ? '10.1.1.2' : '10.1.1.3');
      for (const pod of [web, db]) await remove(running, pod);
      await untilNoAddressIsStored(node);
      assert.deepEqual(await configuration(node), empty);
    });

    it('are reverted when VPP rejects any request, and CNI gets the error', async () => {
      for (let n = 1; ; n++) {
        const node = makeNode();
        await using running = await startAgent(node, { contiv });
        const before = await configuration(node);
        node.vpp.faults.add(n, { refuse: -1 }, ({ kind }) => kind === 'request');
        const requests = node.vpp.requests.length;
        const reply = await addPod(running, web);
        const sent = node.vpp.requests.slice(requests).filter(({ kind }) => kind === 'request');
        if (sent.length < n) {
          assert.equal(reply.error, '');
          assert.ok(n > 5, `only ${n - 1} requests`);
          break;
        }
        assert.equal(reply.result, 1, `request ${n} (${sent[n - 1]!.name}) was refused in vain`);
        assert.match(reply.error, /VPP answered -1/);
        node.vpp.faults.clear();
        await assertUndoneInReverse(running);
        node.linux.removeNamespace(web.netns);
        assert.deepEqual(await configuration(node), before, `request ${n} (${sent[n - 1]!.name})`);
        const again = await addPod(running, web);
        assert.equal(again.error, '');
      }
    });
  });
}

describe('a TAP that VPP cannot make in the namespace of its pod', () => {
  for (const refuse of [-12, -13])
    it(`is moved there, after VPP has answered ${refuse}`, async () => {
      const node = emptyNode();
      await using running = await startAgent(node);
      const empty = await configuration(node);
      node.vpp.faults.add(1, { refuse }, ({ name }) => name === 'tap_create_v3');
      assert.equal((await addPod(running, web)).error, '');
      assert.equal((await addPod(running, db)).error, '');
      const marks = async ({ netns }: typeof web) =>
        (await node.linux.dump(netns)).links.map(({ name, alias }) => [
          name,
          alias?.endsWith('/.'),
        ]);
      assert.deepEqual(await marks(web), [
        ['lo', undefined],
        ['eth0', false],
      ]);
      assert.deepEqual(await marks(db), [
        ['lo', undefined],
        ['eth0', true],
      ]);
      for (const pod of [web, db]) await remove(running, pod);
      assert.deepEqual(await configuration(node), empty);
    });
});

describe('two interfaces of one pod', () => {
  const gateway = '10.1.1.1';
  const routesOf = (device: string, metric: number) => [
    { destination: '0.0.0.0/0', gateway, device, metric },
    { destination: `${gateway}/32`, gateway: undefined, device, metric },
  ];

  it('have routes of their own, and the main one is used while it exists', async () => {
    await using scenario = await Scenario.start();
    const { node, running } = scenario;
    const routes = async () =>
      (await node.linux.dump(web.netns)).routes
        .filter(({ device }) => device !== 'lo')
        .map(({ destination, gateway, device, metric }) => ({
          destination,
          gateway,
          device,
          metric,
        }))
        .sort((a, b) => a.metric - b.metric || (a.destination < b.destination ? -1 : 1));
    const second = { ...cniRequest(web), interface_name: 'net1' };
    const [main, other] = [routesOf('eth0', 0), routesOf('net1', routeMetric('net1'))];

    assert.equal((await addPod(running, web)).error, '');
    assert.deepEqual(await routes(), main);
    assert.equal((await running.client.add(second)).error, '');
    await scenario.assertSettled();
    assert.deepEqual(await routes(), [...main, ...other]);
    assert.equal((await running.client.delete(second)).error, '');
    await scenario.assertSettled();
    assert.deepEqual(await routes(), main);
    assert.equal((await running.client.add(second)).error, '');
    assert.equal((await running.client.delete(cniRequest(web))).error, '');
    await scenario.assertSettled();
    assert.deepEqual(await routes(), other);
  });
});

describe('bad input', () => {
  it('is logged and ignored, and the agent continues', async () => {
    const node = emptyNode();
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
    assert.equal(reply.result, 4);
    assert.match(reply.error, /K8S_POD_NAME/);
    assert.equal((await addPod(running, web)).error, '');
  });
});

describe('operators', () => {
  it('see probes, history, configuration, addresses and metrics', async () => {
    const node = emptyNode();
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
      history.map(({ SeqNum }) => SeqNum),
      history.map((_, index) => index),
    );
    assert.equal(history[0]!.Name, 'Database Resync');
    const added = history.find(({ Name }) => Name === 'Add Pod default/web');
    assert.ok(added?.Txn, 'with its transaction');

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

  it('find both boxes of every event and of every transaction in the log, at level debug', async () => {
    await using running = await startAgent(emptyNode(), { logLevel: 'debug' });
    await addPod(running, web);
    const text = running.printed.join('');
    const boxes = text.split('\n').filter((line) => /^[<>]{130}$/.test(line));
    assert.equal(boxes.length, 4 * running.agent.controller.history.records.length);
    for (const line of text.split('\n')) if (/^[*]/.test(line)) assert.equal(line.length, 130);
    assert.match(text, /NEW EVENT: Add Pod default\/web/);
    assert.match(text, /FINALIZED EVENT: Add Pod default\/web/);
  });
});

describe('VPP that is restarted', () => {
  it('is configured by a healing resync', async () => {
    const node = emptyNode();
    await using running = await startAgent(node);
    await addPod(running, web);
    const before = node.vpp.snapshot();
    node.vpp.crash();
    await node.vpp.start();
    await until(async () => {
      const { body } = await running.get('/controller/event-history');
      const last = (body as { Description: string }[]).at(-1);
      return last?.Description === 'Healing Resync (After error: VPP reconnected)';
    });
    assert.deepEqual(node.vpp.snapshot(), before);
  });
});
