/** Pods whose annotation says that their sockets are to be left alone. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podModel } from '#kubernetes/models/pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { type SocketExemption, socketExemptionKey } from '#models/linux/socket-exemption.ts';
import { FakeHost } from '../../fake-ports.ts';
import { startedNode } from '../../ipv4net/wired-node.ts';
import type { KubeValue, TestNode } from '../../test-node.ts';

function pod(name: string, translation?: string, runtime_class = ''): KubeValue {
  const value = podModel.canonical({
    name,
    namespace: 'default',
    runtime_class,
    annotations:
      translation === undefined ? {} : { 'contivpp.io/service-translation': translation },
  });
  return { resource: 'pod', key: resources.pod.key(name, 'default'), value };
}

async function nodeWithSockets(): Promise<TestNode> {
  const host = new FakeHost();
  host.socketServices = true;
  return await startedNode({ host, service: { socketServices: '/sys/fs' } });
}

/** Paths of the exempt namespaces by container. */
function exempt(node: TestNode): Record<string, string> {
  const prefix = socketExemptionKey.prefix();
  const values = [...node.config].filter(([key]) => key.startsWith(prefix));
  return Object.fromEntries(
    values.map(([, value]) => {
      const { name, namespace } = value as SocketExemption;
      return [name, namespace];
    }),
  );
}

const translationOf = (node: TestNode, containerId: string) =>
  node.services.translationOf({ containerId });

describe('a pod with the annotation contivpp.io/service-translation', () => {
  it('is exempt when it is attached, until it is detached', async () => {
    const node = await nodeWithSockets();
    await node.put(pod('mesh', 'packets'));
    await node.add('mesh', 'c1');
    await node.add('web', 'c2');
    assert.deepEqual(exempt(node), { c1: '/run/netns/c1' });
    assert.equal(translationOf(node, 'c1'), 'packets');
    assert.equal(translationOf(node, 'c2'), 'sockets');
    await node.del('mesh', 'c1');
    assert.deepEqual(exempt(node), {});
  });

  it('chooses for a pod with a runtime class, which is exempt without it', async () => {
    const node = await nodeWithSockets();
    await node.put(pod('mesh', undefined, 'kata'));
    await node.add('mesh', 'c1');
    assert.equal(translationOf(node, 'c1'), 'packets');
    await node.put(pod('mesh', 'sockets', 'kata'));
    assert.equal(translationOf(node, 'c1'), 'sockets');
    await node.put(pod('mesh', 'unknown', 'kata'));
    assert.equal(translationOf(node, 'c1'), 'packets');
  });

  it('is exempt when its record is known, and while it says so', async () => {
    const node = await nodeWithSockets();
    await node.add('mesh', 'c1');
    assert.deepEqual(exempt(node), {});
    await node.put(pod('mesh', 'packets'));
    assert.deepEqual(exempt(node), { c1: '/run/netns/c1' });
    for (const other of ['sockets', '', undefined]) {
      await node.put(pod('mesh', other));
      assert.deepEqual(exempt(node), {}, other);
      await node.put(pod('mesh', 'packets'));
      assert.deepEqual(exempt(node), { c1: '/run/netns/c1' });
    }
    await node.remove(pod('mesh'));
    assert.deepEqual(exempt(node), {});
  });

  it('is exempt with each of its sandboxes, and after a restart', async () => {
    const node = await nodeWithSockets();
    await node.put(pod('mesh', 'packets'));
    await node.add('mesh', 'c1');
    await node.add('mesh', 'c1', 'net1');
    await node.add('mesh', 'c2');
    const both = { c1: '/run/netns/c1', c2: '/run/netns/c2' };
    assert.deepEqual(exempt(node), both);
    const again = node.restart();
    await again.resync(node.state());
    assert.deepEqual(exempt(again), both);
  });

  it('has NAT44 at its interface, and packets to it pass the link for replies', async () => {
    const node = await nodeWithSockets();
    await node.add('mesh', 'c1');
    const nat = 'config/vpp/nat/v2/nat44-interface/vpp-tap-c1';
    const direct = 'config/vpp/v2/route/if/vpp-tap-c1/vrf/1/dst/10.1.1.2/32/gw/10.1.1.2';
    const fromLink = direct.replace('vrf/1', 'vrf/4294967292');
    const toLink = 'config/vpp/v2/route/if/natLink/vrf/1/dst/10.1.1.2/32/gw/169.254.254.250';
    const found = () => [nat, direct, fromLink, toLink].map((key) => node.config.has(key));
    assert.deepEqual(found(), [false, true, false, false]);
    await node.put(pod('mesh', 'packets'));
    assert.deepEqual(found(), [true, false, true, true]);
    await node.add('mesh', 'c1');
    assert.deepEqual(found(), [true, false, true, true]);
    await node.put(pod('mesh'));
    assert.deepEqual(found(), [false, true, false, false]);
    await node.put(pod('mesh', 'packets'));
    await node.del('mesh', 'c1');
    assert.deepEqual(found(), [false, false, false, false]);
  });

  it('has no value where packets are translated alone', async () => {
    const node = await startedNode();
    await node.put(pod('mesh', 'packets'));
    await node.add('mesh', 'c1');
    assert.deepEqual(exempt(node), {});
    assert.equal(translationOf(node, 'c1'), 'packets');
  });
});
