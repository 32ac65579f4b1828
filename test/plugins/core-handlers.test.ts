/** The core handlers under the controller itself, as the agent wires them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLogger } from '#infra/log/log.ts';
import { CNIRequest } from '#models/cni/cni.gen.ts';
import { messageCodec } from '#models/message.ts';
import { KubeStateChange } from '#plugins/controller/api/events.ts';
import { cniService } from '#plugins/podmanager/cni-service.ts';
import { emptyResync, makeController, settle } from './controller/controller-harness.ts';
import { idleCniState, nodeValue, podValue, TestNode, vppNodeValue } from './test-node.ts';

function request(pod: string, container: string) {
  return messageCodec(CNIRequest).canonical({
    container_id: container,
    network_namespace: `/run/netns/${container}`,
    interface_name: 'eth0',
    extra_arguments: `K8S_POD_NAMESPACE=default;K8S_POD_NAME=${pod}`,
  });
}

function wired() {
  const node = new TestNode();
  const bench = makeController(node.handlers);
  const service = cniService({
    loop: bench.controller,
    pods: node.pods,
    state: idleCniState,
    log: silentLogger,
  });
  return { node, service, ...bench };
}

describe('core handlers under the controller', () => {
  it('serve an ADD that came before the first resync, and its DEL', async () => {
    const { node, controller, service, sink } = wired();
    const added = service.add(request('web', 'c1'));
    controller.push(emptyResync);
    assert.equal((await added).interfaces[0]!.ip_addresses[0]!.address, '10.1.1.2/32');
    const [resync, add] = sink.requests;
    assert.equal(resync!.mode, 'full-resync');
    assert.equal(add!.onFailure, 'revert');
    assert.match(add!.description, /podmanager: attach.*ipam: address 10\.1\.1\.2.*ipv4net: wire/s);
    assert.equal(add!.values.size, 9);
    assert.equal((await service.delete(request('web', 'c1'))).result, 0);
    assert.deepEqual([...sink.requests[2]!.values.values()], Array(9).fill(null));
    assert.equal(node.ipam.allocations().size, 0);
    await controller.close({ cleanup: false });
  });

  it('remove everything of a pod that VPP rejected, and need no healing', async () => {
    const { node, controller, service, sink, clock } = wired();
    controller.push(emptyResync);
    await settle();
    sink.reply = (asked) => ({
      seqNum: 0,
      failures: [...asked.values.keys()]
        .slice(0, 1)
        .map((key) => ({ key, operation: 'CREATE' as const, error: new Error('table full') })),
    });
    const answer = await service.add(request('web', 'c1'));
    assert.equal(answer.result, 1);
    assert.match(answer.error, /table full/);
    assert.equal(node.pods.attachments().size, 0);
    assert.equal(node.ipam.allocations().size, 0);
    const before = sink.requests.length;
    await clock.advance(60_000);
    assert.equal(sink.requests.length, before);
    await controller.close({ cleanup: false });
  });

  it('wire a node that joins, by a follow-up', async () => {
    const { controller, sink } = wired();
    controller.push(emptyResync);
    for (const { resource, key, value } of [
      nodeValue('node-b', '172.16.0.6'),
      vppNodeValue(2, 'node-b', '192.168.16.2/24'),
    ])
      controller.push(
        KubeStateChange.event({ resource, key, previous: undefined, current: value }),
      );
    await settle();
    const last = sink.requests.at(-1)!;
    assert.match(last.description, /^Node Update/);
    assert.ok(last.values.has('config/vpp/v2/interfaces/vxlan-default-2'));
    await controller.close({ cleanup: false });
  });

  it('get changes after the first resync that succeeded', async () => {
    for (const external of [false, true])
      for (const away of ['vpp', 'host'] as const) {
        const subnets = `useExternalIPAM: ${external}, nodeInterconnectCIDR: 192.168.16.0/24`;
        const node = new TestNode({ yaml: `ipamConfig: {${subnets}}` });
        const bench = makeController(node.handlers);
        node[away].failing = new Error('away');
        bench.controller.push(emptyResync);
        for (const { resource, key, value } of [
          nodeValue('node-a', '172.16.0.5'),
          nodeValue('node-b', '172.16.0.6'),
          vppNodeValue(2, 'node-b', '192.168.16.2/24'),
          podValue('web', '10.1.1.9'),
        ])
          bench.controller.push(
            KubeStateChange.event({ resource, key, previous: undefined, current: value }),
          );
        await settle();
        assert.equal(bench.processed.length, 1);
        assert.match(String(bench.processed[0]!.error), /cannot list/);
        node[away].failing = undefined;
        await bench.clock.advance(5_000);
        await settle();
        const changes = bench.processed.slice(1);
        assert.ok(changes.length >= 5);
        for (const { error, record } of changes) assert.equal(error, undefined, record.description);
        assert.ok(
          bench.sink.requests.some(({ values }) =>
            values.has('config/vpp/v2/interfaces/vxlan-default-2'),
          ),
        );
        if (!external) assert.ok(node.ipam.allocations().has('10.1.1.9'));
        await bench.controller.close({ cleanup: false });
      }
  });
});
