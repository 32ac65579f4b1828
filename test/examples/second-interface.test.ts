import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defineEvent, EventMethod } from '#plugins/controller/api/event.ts';
import { configuration } from '#test/cmd/agent/configuration.ts';
import { createSecondInterface } from '../../examples/plugin/second-interface.ts';
import { ExampleNode } from './node.ts';

const Recalculate = defineEvent<object>({
  id: 'recalculate',
  blocking: false,
  name: 'Recalculate',
  method: EventMethod.FullResync,
});

async function started(mtu = 1400): Promise<ExampleNode> {
  const node = new ExampleNode(({ handlers, pods, ipam, ipv4net }) => [
    ...handlers,
    createSecondInterface({ network: '10.200', mtu }, { pods, ipam, net: ipv4net }),
  ]);
  await node.start();
  return node;
}

const inNode = async (node: ExampleNode, ...pods: string[]) => {
  const all = await configuration(
    node,
    pods.map((pod) => `/run/netns/${pod}`),
  );
  return JSON.parse(JSON.stringify(all)) as typeof all;
};

describe('examples/plugin/second-interface.ts', () => {
  it('gives each pod a second interface, and both links the same MTU', async () => {
    await using node = await started();
    const replies = await node.add('web');
    const [first, second] = replies.flatMap(({ interfaces = [] }) => interfaces);
    assert.equal(first!.name, 'eth0');
    assert.equal(second!.name, '2-eth0');
    assert.equal(first!.addresses[0]!.address, '10.1.1.2/32');
    assert.deepEqual(second!.addresses, [
      { family: 4, address: '10.200.1.2/32', gateway: '10.200.0.1' },
    ]);
    assert.notEqual(first!.mac, second!.mac);
    const { linux, vpp } = await inNode(node, 'web');
    const lines = linux['/run/netns/web']!;
    const links = lines.filter((line) => line.startsWith('link ') && !line.includes('loopback'));
    assert.equal(links.length, 2);
    for (const link of links) assert.match(link, / up mtu 1400 /);
    assert.ok(lines.includes('address 10.200.1.2/32 dev 2-eth0'));
    assert.ok(
      lines.some((line) => line.startsWith('route 10.200.0.0/16 via 10.200.0.1 dev 2-eth0')),
    );
    const text = JSON.stringify(vpp);
    assert.match(text, /vrf 1 10\.200\.1\.2\/32 via 10\.200\.1\.2 dev 2-vpp-tap-/);
    assert.match(text, /vrf 1 10\.1\.1\.2\/32 via 10\.1\.1\.2 dev vpp-tap-/);
  });

  it('takes it away with the pod, and leaves nothing behind', async () => {
    await using node = await started();
    const before = await inNode(node);
    await node.add('web');
    await node.add('db');
    await node.delete('web');
    await node.delete('db');
    assert.deepEqual(await inNode(node), before);
  });

  it('wants the same after a resync, with nothing to do and nothing out of sync', async () => {
    await using node = await started();
    await node.add('web');
    await node.add('db');
    const before = await inNode(node, 'web', 'db');
    await node.run(Recalculate.event({}));
    assert.deepEqual(await inNode(node, 'web', 'db'), before);
    const { resyncs, internalData, configuration: differing } = node.controller.verification.counts;
    assert.ok(resyncs >= 4);
    assert.deepEqual([internalData, differing], [0, 0]);
  });

  it('is all or nothing with the pod: when it fails, the pod is not wired either', async () => {
    // No link takes this MTU.
    await using node = await started(1);
    const before = await inNode(node);
    await assert.rejects(node.add('web'));
    assert.deepEqual(await inNode(node), before);
    assert.equal(node.plugins.pods.attachments().size, 0);
  });
});
