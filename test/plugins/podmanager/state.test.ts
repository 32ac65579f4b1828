/** The calls of the CNI service besides ADD and DEL. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLogger } from '#infra/log/log.ts';
import { CheckRequest, CNIReply, CNIRequest, GCRequest } from '#models/cni/cni.gen.ts';
import { messageCodec } from '#models/message.ts';
import { ClosedControllerError } from '#plugins/controller/api/errors.ts';
import { podLinkNames } from '#plugins/ipv4net/names.ts';
import { type CniState, cniService } from '#plugins/podmanager/cni-service.ts';
import { eventLoopOf } from '../handler-bench.ts';
import { idleCniState, TestNode } from '../test-node.ts';

const requests = messageCodec(CNIRequest);
const checks = messageCodec(CheckRequest);
const lists = messageCodec(GCRequest);
const replies = messageCodec(CNIReply);

function request(pod: string, containerId: string, change: object = {}): CNIRequest {
  return requests.canonical({
    container_id: containerId,
    network_namespace: `/run/netns/${containerId}`,
    interface_name: 'eth0',
    extra_arguments: `K8S_POD_NAMESPACE=default;K8S_POD_NAME=${pod}`,
    ...change,
  });
}

async function served(state: Partial<CniState> = {}) {
  const node = new TestNode();
  const loop = eventLoopOf(node);
  await node.resync();
  const service = cniService({
    loop,
    pods: node.pods,
    state: {
      ...idleCniState,
      addresses: (id) => node.ipam.podAddresses(id),
      namespaceIdentity: (path) => node.host.namespaceIdentity(path),
      ...state,
    },
    log: silentLogger,
  });
  const check = (of: CNIRequest, addresses: string[] = []) =>
    service.check(checks.canonical({ request: of, addresses }));
  return { node, loop, service, check };
}

describe('CNI CHECK', () => {
  it('accepts an attachment in the desired state', async () => {
    const { service, check } = await served();
    await service.add(request('web', 'c1'));
    assert.deepEqual(await check(request('web', 'c1'), ['10.1.1.2']), replies.canonical({}));
  });

  it('says all that is wrong at once', async () => {
    const { service, check } = await served({ faults: async (id) => [`route of ${id} is FAILED`] });
    await service.add(request('web', 'c1'));
    const answer = await check(request('web', 'c1', { network_namespace: '/run/netns/x' }), [
      '10.1.1.9',
    ]);
    assert.equal(answer.result, 1);
    assert.equal(
      answer.error,
      'c1/eth0: the attachment is in /run/netns/c1, not in /run/netns/x; the attachment has 10.1.1.2, not ' +
        '10.1.1.9; route of c1/eth0 is FAILED',
    );
  });

  it('does not find what was never attached, or is detached', async () => {
    const { service, check } = await served();
    await service.add(request('web', 'c1'));
    await service.delete(request('web', 'c1'));
    for (const id of ['c1', 'c2'])
      assert.match((await check(request('web', id))).error, /the attachment does not exist/);
  });

  it('accepts another path of the namespace, but no path of another one', async () => {
    const { service, node, check } = await served();
    const other = '/var/run/netns/c1';
    const at = (network_namespace: string) => check(request('web', 'c1', { network_namespace }));
    node.host.namespaces.set('/run/netns/c1', 5);
    await service.add(request('web', 'c1'));
    assert.match((await at(other)).error, /not in \/var\/run\/netns\/c1/);
    node.host.namespaces.set(other, 5);
    assert.equal((await at(other)).error, '');
    node.host.namespaces.set(other, 6);
    assert.match((await at(other)).error, /not in \/var\/run\/netns\/c1/);
  });

  it('sees that a path leads elsewhere by now', async () => {
    const { service, node, check } = await served();
    node.host.namespaces.set('/run/netns/c1', 5);
    await service.add(request('web', 'c1'));
    node.host.namespaces.set('/run/netns/c1', 6);
    await node.resync();
    assert.match((await check(request('web', 'c1'))).error, /leads to another namespace/);
  });
});

describe('CNI GC', () => {
  it('deletes all that the runtime does not name, addresses included', async () => {
    const { service, node } = await served();
    for (const id of ['c1', 'c2', 'c3']) await service.add(request(`pod-${id}`, id));
    const valid = [
      { container_id: 'c2', interface_name: 'eth0' },
      { container_id: 'c3', interface_name: 'eth1' },
      { container_id: 'c4', interface_name: 'eth0' },
    ];
    assert.equal((await service.gc(lists.canonical({ valid }))).result, 0);
    assert.deepEqual([...node.pods.attachments().keys()], ['c2/eth0']);
    assert.deepEqual([...node.ipam.allocations().keys()], ['10.1.1.3']);
    assert.equal((await service.gc(lists.canonical({ valid }))).result, 0);
  });

  it('leaves alone what belongs to another network', async () => {
    const { service, node } = await served();
    const of = (network: string) => ({ extra_nw_config: JSON.stringify({ name: network }) });
    await service.add(request('one', 'c1', of('blue')));
    await service.add(request('two', 'c2', of('green')));
    await service.add(request('old', 'c3'));
    const next = node.restart();
    await next.resync();
    const again = cniService({
      loop: eventLoopOf(next),
      pods: next.pods,
      state: idleCniState,
      log: silentLogger,
    });
    assert.equal((await again.gc(lists.canonical({ network: 'blue' }))).result, 0);
    assert.deepEqual([...next.pods.attachments().keys()], ['c2/eth0', 'c3/eth0']);
  });

  it('deletes an attachment of an unknown network only if no other network and no container is known', async () => {
    const { service, node } = await served();
    const blue = { extra_nw_config: JSON.stringify({ name: 'blue' }) };
    const gc = async (network: string, ...containers: string[]) => {
      const valid = containers.map((container_id) => ({ container_id, interface_name: 'net1' }));
      assert.equal((await service.gc(lists.canonical({ network, valid }))).result, 0);
      return [...node.pods.attachments().keys()];
    };
    await service.add(request('one', 'c1'));
    await service.add(request('one', 'c1', { interface_name: 'net1', ...blue }));
    await service.add(request('two', 'c2'));
    assert.deepEqual(await gc('green'), ['c1/eth0', 'c1/net1', 'c2/eth0']);
    assert.deepEqual(await gc('blue', 'c1'), ['c1/eth0', 'c1/net1']);
    assert.deepEqual(await gc('blue'), []);
  });

  it('knows the container of an adopted attachment by the beginning of its ID', async () => {
    const containerId = 'a1'.repeat(32);
    const node = new TestNode();
    const { vpp: logicalName, linux } = podLinkNames({ containerId, interfaceName: 'eth0' }, true);
    node.vpp.nics.push({
      swIfIndex: 9,
      internalName: 'tap9',
      deviceType: 'virtio',
      tag: logicalName,
      mtu: 1500,
    });
    node.host.marked = [
      {
        namespace: '/run/netns/c1',
        namespaceIdentity: { device: 4, inode: 5 },
        name: 'eth0',
        logicalName: linux,
        otherEnd: logicalName,
        mac: '02:fe:00:00:00:02',
        addresses: ['10.1.1.2/32'],
        neighbors: [],
      },
    ];
    await node.resync();
    const { pods } = node;
    const service = cniService({
      loop: eventLoopOf(node),
      pods,
      state: idleCniState,
      log: silentLogger,
    });
    assert.equal(pods.attachments().size, 1);
    const valid = [{ container_id: containerId, interface_name: 'net1' }];
    await service.gc(lists.canonical({ network: 'blue', valid }));
    assert.equal(pods.attachments().size, 1);
    await service.gc(lists.canonical({ network: 'blue' }));
    assert.equal(pods.attachments().size, 0);
  });

  it('answers a failure only when nothing waits its turn any more', async () => {
    const { service, loop } = await served();
    for (const id of ['c1', 'c2']) await service.add(request(`pod-${id}`, id));
    const rest = Promise.withResolvers<[]>();
    let calls = 0;
    loop.pushAndWait = () => (calls++ === 0 ? Promise.reject(new Error('disk')) : rest.promise);
    let answered = false;
    const call = service.gc(lists.canonical({})).finally(() => {
      answered = true;
    });
    await new Promise(setImmediate);
    assert.equal(answered, false);
    rest.resolve([]);
    assert.equal((await call).result, 1);
    assert.equal(calls, 2);
  });

  it('fails when one of them could not be deleted, and ends at the next time', async () => {
    const { service, node } = await served();
    for (const id of ['c1', 'c2']) await service.add(request(`pod-${id}`, id));
    node.local.beforeWrite = ({ keys }) => {
      if (keys[0]!.includes('c1')) throw new Error('disk');
    };
    assert.equal((await service.gc(lists.canonical({}))).result, 1);
    node.local.beforeWrite = undefined;
    assert.equal((await service.gc(lists.canonical({}))).result, 0);
    assert.equal(node.pods.attachments().size, 0);
  });
});

describe('CNI DEL without the name of a pod', () => {
  it('deletes what is known under the container, and nothing else', async () => {
    const { service, node } = await served();
    for (const id of ['c1', 'c2']) await service.add(request(`pod-${id}`, id));
    const nameless = { extra_arguments: '', network_namespace: '' };
    assert.equal((await service.delete(request('', 'c1', nameless))).result, 0);
    assert.equal((await service.delete(request('', 'c9', nameless))).result, 0);
    assert.deepEqual([...node.pods.attachments().keys()], ['c2/eth0']);
  });
});

describe('CNI STATUS', () => {
  it('passes on how the agent is, and the subnet of its pods', async () => {
    const { service } = await served({
      readiness: () => ({ ready: false, limited: true, reason: 'VPP disconnected' }),
      podCidr: () => '10.1.1.0/24',
    });
    assert.deepEqual(await service.status({}), {
      ready: false,
      limited: true,
      reason: 'VPP disconnected',
      pod_cidr: '10.1.1.0/24',
    });
  });
});

describe('an agent that ends', () => {
  it('answers so that the runtime tries again', async () => {
    const { service, loop } = await served();
    loop.pushAndWait = () => Promise.reject(new ClosedControllerError('the agent ends'));
    assert.equal((await service.add(request('web', 'c1'))).result, 11);
  });
});
