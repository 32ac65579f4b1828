import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import { ClosedSchedulerError, TransactionQueueFullError } from '#kvscheduler/api/errors.ts';
import { NamespaceNotFoundError } from '#linux/api.ts';
import { CNIRequest } from '#models/cni/cni.gen.ts';
import { messageCodec } from '#models/message.ts';
import {
  AbortEventError,
  ClosedControllerError,
  EventLoopIsAbortingError,
  EventQueueFullError,
  FailedValuesError,
  NotConfiguredError,
} from '#plugins/controller/api/errors.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import type { ResyncContext } from '#plugins/controller/api/event-handler.ts';
import { parseArguments } from '#plugins/podmanager/cni-request.ts';
import { cniService } from '#plugins/podmanager/cni-service.ts';
import { VppDisconnectedError } from '#vpp/binapi/api.ts';
import { eventLoopOf } from '../handler-bench.ts';
import { idleCniState, TestNode } from '../test-node.ts';

const codec = messageCodec(CNIRequest);

function request(pod: string, containerId: string, change: object = {}): CNIRequest {
  return codec.canonical({
    version: '0.3.1',
    container_id: containerId,
    network_namespace: `/run/netns/${containerId}`,
    interface_name: 'eth0',
    extra_arguments: `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=${pod};K8S_POD_UID=u-1`,
    ...change,
  });
}

async function served(startIt = true) {
  const node = new TestNode();
  const loop = eventLoopOf(node);
  if (startIt) await node.resync();
  const service = cniService({ loop, pods: node.pods, state: idleCniState, log: silentLogger });
  const seen = () =>
    loop.seen.map(({ kind, payload }: Event) => [
      kind.id,
      (payload as { containerId: string }).containerId,
    ]);
  return { node, loop, service, seen };
}

describe('CNI ADD', () => {
  it('answers with what the handlers have wired', async () => {
    const { service } = await served();
    assert.deepEqual(await service.add(request('web', 'c1')), {
      result: 0,
      error: '',
      interfaces: [
        {
          name: 'eth0',
          mac: '02:fe:42:90:eb:4f',
          sandbox: '/run/netns/c1',
          ip_addresses: [{ version: 'IPV4', address: '10.1.1.2/32', gateway: '10.1.1.1' }],
        },
      ],
      routes: [{ dst: '0.0.0.0/0', gw: '10.1.1.1' }],
      dns: [],
    });
  });

  it('gives the same answer when it is repeated', async () => {
    const { service, node } = await served();
    const first = await service.add(request('web', 'c1'));
    assert.deepEqual(await service.add(request('web', 'c1')), first);
    assert.equal(node.ipam.allocations().size, 1);
  });

  it('remembers the UID of the pod', async () => {
    const { service, node } = await served();
    await service.add(request('web', 'c1'));
    assert.equal(node.pods.attachments().get('c1/eth0')!.podUid, 'u-1');
  });

  it('deletes the obsolete container of the pod first, and waits for it', async () => {
    const { service, node, seen } = await served();
    await service.add(request('web', 'old'));
    await service.add(request('web', 'old2', { interface_name: 'net1' }));
    const answer = await service.add(request('web', 'new'));
    assert.equal(answer.result, 0);
    assert.deepEqual(seen().slice(2), [
      ['delete-pod', 'old'],
      ['add-pod', 'new'],
    ]);
    assert.deepEqual([...node.pods.attachments().keys()], ['old2/net1', 'new/eth0']);
  });

  it('deletes the obsolete container of the pod, also where its ADD still waits', async () => {
    const { service, node } = await served();
    const [old, given] = await Promise.all([
      service.add(request('web', 'old')),
      service.add(request('web', 'new')),
    ]);
    assert.equal(old.result, 0);
    assert.equal(given.result, 0);
    assert.deepEqual([...node.pods.attachments().keys()], ['new/eth0']);
    assert.equal(node.ipam.allocations().size, 1);
  });

  it('continues if the obsolete attachment cannot be deleted', async () => {
    const { service, node } = await served();
    await service.add(request('web', 'old'));
    node.local.beforeWrite = ({ operation }) => {
      if (operation === 'delete') throw new Error('disk');
    };
    assert.equal((await service.add(request('web', 'new'))).result, 0);
  });

  it('names all that is missing', async () => {
    const { service, seen } = await served();
    const empty = await service.add(
      request('', '', { network_namespace: '', extra_arguments: 'K8S_POD_NAME=web;;=x' }),
    );
    assert.equal(empty.result, 4);
    assert.equal(
      empty.error,
      'the CNI request lacks container_id, network_namespace, K8S_POD_NAMESPACE in extra_arguments',
    );
    assert.deepEqual(seen(), []);
  });

  it('refuses names that are none, before they get into keys and the log', async () => {
    const { service, seen } = await served();
    const pod = (name: string) => request(name, 'c1');
    const refused: [CNIRequest, RegExp][] = [
      [pod('a\u001b[2J'), /invalid K8S_POD_NAME: "a\\u001b\[2J"/],
      [pod('a\n>>>>'), /K8S_POD_NAME/],
      [pod('../x'), /K8S_POD_NAME/],
      [
        request('web', 'c1', { extra_arguments: 'K8S_POD_NAME=a;K8S_POD_NAMESPACE=a/b' }),
        /NAMESPACE/,
      ],
      [request('web', 'c/1'), /container_id/],
      [request('web', 'c1', { interface_name: 'a b' }), /interface_name/],
      [request('web', 'c1', { interface_name: '..' }), /interface_name/],
      [request('web', 'c1', { interface_name: 'sixteencharacter' }), /interface_name/],
      [request('web', 'c1', { interface_name: 'äääääääü' }), /interface_name: 16 bytes/],
      [pod('a'.repeat(254)), /K8S_POD_NAME: 254 bytes, the limit is 253/],
      [pod('a'.repeat(1 << 20)), /K8S_POD_NAME: 1048576 bytes/],
      [
        request('web', 'c1', {
          extra_arguments: `K8S_POD_NAME=a;K8S_POD_NAMESPACE=${'n'.repeat(64)}`,
        }),
        /K8S_POD_NAMESPACE: 64 bytes, the limit is 63/,
      ],
      [request('web', 'c'.repeat(254)), /container_id: 254 bytes, the limit is 253/],
      [
        request('web', 'c1', { extra_nw_config: `{"name":"${'n'.repeat(300)}"}` }),
        /network name: 300 bytes/,
      ],
      [request('web', 'c1', { network_namespace: `/${'n'.repeat(4095)}` }), /4096 bytes/],
      [request('web', 'c1', { network_namespace: '/run/../proc/1/ns/net' }), /network_namespace/],
      [request('web', 'c1', { network_namespace: '/run/netns/..' }), /network_namespace/],
      [request('web', 'c1', { network_namespace: 'netns/c1' }), /network_namespace/],
      [request('web', 'c1', { network_namespace: '/proc/1\r' }), /network_namespace/],
    ];
    for (const [bad, reason] of refused) {
      const answer = await service.add(bad);
      assert.equal(answer.result, 4);
      assert.match(answer.error, reason);
      assert.ok(answer.error.length < 300);
    }
    assert.deepEqual(seen(), []);
  });

  it('accepts the longest names of Kubernetes', async () => {
    const { service } = await served();
    const answer = await service.add(
      request('web', 'c'.repeat(253), {
        extra_arguments: `K8S_POD_NAME=${'p'.repeat(253)};K8S_POD_NAMESPACE=${'n'.repeat(63)}`,
        interface_name: 'fifteencharacte',
      }),
    );
    assert.equal(answer.error, '');
  });

  it('rejects the network namespace of the host, and accepts its DEL', async () => {
    const { service, node } = await served();
    node.host.namespaces.set('/proc/4711/ns/net', 0);
    const onHost = request('web', 'c1', { network_namespace: '/proc/4711/ns/net' });
    const answer = await service.add(onHost);
    assert.equal(answer.result, 4);
    assert.match(answer.error, /leads to the network namespace of the host/);
    assert.equal(node.pods.attachments().size, 0);
    assert.equal(node.ipam.allocations().size, 0);
    assert.equal((await service.delete(onHost)).result, 0);
  });

  it('lets DEL pass for a namespace that ADD rejects', async () => {
    const { service } = await served();
    for (const path of ['', '..', 'x', `/${'n'.repeat(10_000)}`, '/tmp/file'])
      assert.equal(
        (await service.delete(request('web', 'c1', { network_namespace: path }))).result,
        0,
      );
  });

  it('asks to try again whenever that can help', async () => {
    const { service, loop } = await served();
    const gone = new VppDisconnectedError('VPP is not connected');
    const cases: [Error, number][] = [
      [gone, 11],
      [new AggregateError([new Error('other'), gone], 'KeyErrors'), 11],
      [new Error('outer', { cause: gone }), 11],
      [new TransactionQueueFullError('100 transactions are waiting'), 11],
      [new ClosedSchedulerError('the scheduler is closed'), 11],
      [new EventQueueFullError('queue with events is full'), 11],
      [new ClosedControllerError('the agent ends'), 11],
      [new EventLoopIsAbortingError('a fatal error'), 11],
      [new NotConfiguredError('VPP is not configured'), 11],
      [new NamespaceNotFoundError('the network namespace does not exist'), 4],
      [new Error('VPP answered -1'), 1],
    ];
    for (const [error, result] of cases) {
      loop.pushAndWait = () => Promise.reject(error);
      assert.equal((await service.add(request('web', 'c1'))).result, result, error.message);
    }
  });

  it('logs a foreseen failure of many values in a line, and a defect with its stack', async () => {
    const node = new TestNode();
    await node.resync();
    const loop = eventLoopOf(node);
    const logged: object[] = [];
    const log = { ...silentLogger, error: (fields: object) => void logged.push(fields) } as Logger;
    const service = cniService({ loop, pods: node.pods, state: idleCniState, log });
    const gone = new VppDisconnectedError('VPP is not connected');
    const failures = Array.from({ length: 20 }, (_, i) => ({
      key: `a/${i}`,
      operation: 'CREATE' as const,
      error: gone,
    }));
    const defect = new TypeError('x is undefined');
    for (const error of [new FailedValuesError(failures, 'KeyErrors: [a/0, …]'), gone, defect]) {
      loop.pushAndWait = () => Promise.reject(error);
      await service.add(request('web', 'c1'));
    }
    const text = JSON.stringify(request('web', 'c1'));
    assert.deepEqual(logged, [
      { error: 'KeyErrors: [a/0, …]', request: text },
      { error: 'VPP is not connected', code: 'CV_VPP_GONE', request: text },
      { err: defect, request: text },
    ]);
  });

  it('uses eth0 as the default interface', async () => {
    const { service, node } = await served();
    await service.add(request('web', 'c1', { interface_name: '' }));
    const answer = await service.add(request('web', 'c1', { interface_name: 'net1' }));
    assert.equal(answer.interfaces[0]!.name, 'net1');
    assert.deepEqual([...node.pods.attachments().keys()], ['c1/eth0', 'c1/net1']);
  });

  it('answers with the reason when the pod cannot be wired, and leaves nothing', async () => {
    const { service, node } = await served();
    node.rejects = () => true;
    assert.deepEqual(await service.add(request('web', 'c1')), {
      result: 1,
      error:
        'KeyErrors: [config/vpp/v2/interfaces/vpp-tap-c1 (CREATE): the southbound rejects the transaction]',
      interfaces: [],
      routes: [],
      dns: [],
    });
    assert.equal(node.ipam.allocations().size, 0);
  });

  it('waits for the first resync, in the order of the requests', async () => {
    const { service, node, seen } = await served(false);
    const calls = [
      service.add(request('web', 'c1')),
      service.delete(request('web', 'c1')),
      service.add(request('web', 'c2')),
    ];
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(seen(), []);
    await node.resync();
    const answers = await Promise.all(calls);
    assert.deepEqual(
      answers.map(({ result }) => result),
      [0, 0, 0],
    );
    assert.deepEqual(seen(), [
      ['add-pod', 'c1'],
      ['delete-pod', 'c1'],
      ['add-pod', 'c2'],
    ]);
  });

  it('is answered when the first resync is aborted, and waits during the next one', async () => {
    const { service, node, seen } = await served(false);
    const { resync } = node.services;
    const aborting = {
      resync: () => {
        throw new AbortEventError('no daemon');
      },
    };
    Object.assign(node.services, aborting);
    const waiting = service.add(request('web', 'c1'));
    await node.resync();
    for (const call of [
      waiting,
      service.delete(request('web', 'c1')),
      service.gc({ valid: [], network: '' }),
    ]) {
      const { result, error } = await call;
      assert.equal(result, 11);
      assert.match(error, /VPP is not configured.*no daemon/);
    }
    const added = Promise.withResolvers<number>();
    const asking = {
      resync: (ctx: ResyncContext) => {
        added.resolve(service.add(request('web', 'c1')).then(({ result }) => result));
        return resync.call(node.services, ctx, undefined);
      },
    };
    Object.assign(node.services, asking);
    assert.equal((await node.heal()).error, undefined);
    assert.equal(await added.promise, 0);
    assert.deepEqual(seen(), [['add-pod', 'c1']]);
  });

  it('finds the container that is obsolete since before the restart', async () => {
    const { service: before, node } = await served();
    await before.add(request('web', 'old'));
    const next = node.restart();
    const loop = eventLoopOf(next);
    const service = cniService({ loop, pods: next.pods, state: idleCniState, log: silentLogger });
    const call = service.add(request('web', 'new'));
    await next.resync();
    assert.equal((await call).result, 0);
    assert.deepEqual([...next.pods.attachments().keys()], ['new/eth0']);
  });

  it('is not run if the caller has disconnected', async () => {
    const { service, node, seen } = await served(false);
    const early = new AbortController();
    const call = service.add(request('web', 'c1'), early.signal);
    early.abort(new Error('the caller has hung up'));
    assert.equal((await call).error, 'the caller has hung up');
    await node.resync();

    const queued = new AbortController();
    const first = service.add(request('web', 'c2'));
    const second = service.add(request('web', 'c3'), queued.signal);
    queued.abort(new Error('the caller has hung up'));
    assert.equal((await first).result, 0);
    assert.equal((await second).result, 1);
    assert.deepEqual(seen(), [['add-pod', 'c2']]);
  });
});

describe('CNI DEL', () => {
  it('deletes what ADD has added', async () => {
    const { service, node } = await served();
    await service.add(request('web', 'c1'));
    assert.equal((await service.delete(request('web', 'c1'))).result, 0);
    assert.equal(node.pods.attachments().size, 0);
    assert.equal(node.ipam.allocations().size, 0);
  });

  it('succeeds for an unknown attachment, and without a namespace', async () => {
    const { service, node } = await served();
    assert.equal((await service.delete(request('web', 'c9'))).result, 0);
    await service.add(request('web', 'c1'));
    node.host.namespaces.clear();
    assert.equal((await service.delete(request('web', 'c1', { network_namespace: '' }))).result, 0);
    assert.equal(node.pods.attachments().size, 0);
  });

  it('goes by the container, whatever pod it names', async () => {
    const { service, node } = await served();
    await service.add(request('web', 'c1'));
    await service.add(request('web', 'c2'));
    assert.equal((await service.delete(request('web', 'c1'))).result, 0);
    assert.deepEqual([...node.pods.attachments().keys()], ['c2/eth0']);
  });

  it('fails when it could not be remembered, so that it is repeated', async () => {
    const { service, node } = await served();
    await service.add(request('web', 'c1'));
    node.local.beforeWrite = ({ keys }) => {
      if (keys[0]!.includes('attachment')) throw new Error('disk');
    };
    assert.equal((await service.delete(request('web', 'c1'))).result, 1);
    node.local.beforeWrite = undefined;
    assert.equal((await service.delete(request('web', 'c1'))).result, 0);
    assert.equal(node.pods.attachments().size, 0);
  });
});

describe('CNI arguments', () => {
  it('are parsed with any characters in their values', () => {
    assert.deepEqual(
      [...parseArguments(' A = b=c ;D=;;=x;E;A=f')],
      [
        ['A', 'f'],
        ['D', ''],
      ],
    );
  });
});
