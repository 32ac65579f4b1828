import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { StoreUnavailableError } from '#datastore/api.ts';
import { AbortEventError, FatalError } from '#plugins/controller/api/errors.ts';
import { AddressRecordedError } from '#plugins/ipam/address-records.ts';
import { allocationsDocument, ipamDocument } from '#plugins/ipam/api.ts';
import { AddressesExhaustedError } from '#plugins/ipam/pod-allocation.ts';
import { podLinkNames } from '#plugins/ipv4net/names.ts';
import type { AddPodReply } from '#plugins/podmanager/api.ts';
import { addressOf, nodeValue, podValue, TestNode } from '../test-node.ts';

/** 11 addresses: .18 to .28. */
const SMALL = `
ipamConfig:
  podSubnetCIDR: 10.1.1.0/24
  podSubnetOneNodePrefixLen: 28
  nodeInterconnectCIDR: 192.168.16.0/24
`;

/** As few in the other family. */
const SMALL6 = `
ipamConfig:
  podSubnetCIDR: fd01::/120
  podSubnetOneNodePrefixLen: 124
  vppHostSubnetCIDR: fd02::/48
  vppHostSubnetOneNodePrefixLen: 64
  vxlanCIDR: fd04::/64
  serviceCIDR: fd05::/108
  nodeInterconnectCIDR: fd03::/64
`;

async function started(yaml?: string): Promise<TestNode> {
  const node = new TestNode(yaml === undefined ? {} : { yaml });
  await node.resync();
  return node;
}

async function stored(node: TestNode): Promise<string[]> {
  const { entries } = await node.localStore.list('local/ipam/address/');
  return entries.map(({ key }) => key.split('/').at(-1)!);
}

const inUse = (node: TestNode) => [...node.ipam.allocations().keys()].sort();

describe('addresses of pods', () => {
  it('are allocated in order, also after a restart', async () => {
    const node = await started();
    assert.equal(addressOf(await node.add('a', 'c1')), '10.1.1.2');
    assert.equal(addressOf(await node.add('b', 'c2')), '10.1.1.3');
    await node.del('b', 'c2');
    const next = node.restart();
    await next.resync();
    assert.equal(addressOf(await next.add('c', 'c3')), '10.1.1.4');
    assert.deepEqual(next.ipam.podAddresses('c1/eth0'), ['10.1.1.2']);
  });

  it('run out with a clear error, and are available again after a DEL', async () => {
    const node = await started(SMALL);
    for (let n = 0; n < 12; n++) addressOf(await node.add(`p${n}`, `c${n}`));
    const { error } = await node.add('one-too-many', 'c99');
    assert.ok(error instanceof AddressesExhaustedError);
    assert.match(error.message, /default\/one-too-many: no free address in 10\.1\.1\.16\/28: 12 /);
    assert.equal(node.pods.attachments().size, 12);
    await node.del('p5', 'c5');
    assert.equal(addressOf(await node.add('again', 'c98')), '10.1.1.23');
  });

  it('are as few after a restart as before it', async () => {
    const node = await started(SMALL);
    for (let n = 0; n < 11; n++) addressOf(await node.add(`p${n}`, `c${n}`));
    const next = node.restart();
    await next.resync();
    addressOf(await next.add('p11', 'c11'));
    const refused = await next.add('p12', 'c12');
    assert.ok(refused.error instanceof AddressesExhaustedError);
    assert.ok(!refused.portCalls.some((question) => question.includes('address')));
    assert.equal(new Set(await stored(next)).size, 12);
    for (let n = 0; n < 12; n++)
      assert.equal(next.ipam.podAddresses(`c${n}/eth0`).length, 1, `c${n}`);
  });

  it('never include gateway, NAT loopback, network and broadcast', async () => {
    const node = await started(SMALL);
    const given = [];
    for (let n = 0; n < 12; n++) given.push(addressOf(await node.add(`p${n}`, `c${n}`)));
    for (const reserved of [
      node.ipam.podGateway(),
      node.ipam.natLoopback(),
      '10.1.1.16',
      '10.1.1.31',
    ])
      assert.ok(!given.includes(reserved), reserved);
  });

  it('are released by a failed Add Pod', async () => {
    const node = await started();
    node.rejects = () => true;
    await node.add('web', 'c1');
    assert.deepEqual(inUse(node), []);
    assert.deepEqual(await stored(node), []);
  });

  it('stay with the container that was added again, wherever the agent crashed', async () => {
    for (let point = 0; ; point++) {
      let node = await started();
      // its next address precedes the first one in the order of the keys
      await node.localStore.put('local/ipam/last', '10.1.1.8');
      node = node.restart();
      await node.resync();
      await node.add('web', 'c1');
      await node.put(podValue('web', '10.1.1.9'));
      node.local.crashAt(node.local.crashPoints + point);
      const steps = [
        () => node.del('web', 'c1'),
        () => node.add('web', 'c1'),
        () => node.heal(),
      ] as const;
      let crashed = false;
      for (const step of steps) {
        const { error } = await step();
        if (!error) continue;
        assert.ok(!crashed, String(error));
        crashed = true;
        const record = node.state();
        node = node.restart();
        await node.resync(record, true);
        await node.resync(record);
        // the runtime repeats what failed
        assert.equal((await step()).error, undefined);
      }
      const [address] = node.ipam.podAddresses('c1/eth0');
      const state = node.state();
      for (const local of [true, false]) {
        const next = node.restart();
        await next.resync(state, local);
        assert.deepEqual(next.ipam.podAddresses('c1/eth0'), [address], `crash point ${point}`);
        await next.put(podValue('web', address!));
        assert.deepEqual([...next.ipam.allocations().keys()], [address]);
      }
      if (!crashed) {
        assert.equal(address, '10.1.1.10');
        assert.ok(point > 5);
        break;
      }
    }
  });

  it('are those of the newer of two records of one attachment, as earlier versions wrote them', async () => {
    for (const [older, newer] of [
      ['10.1.1.9', '10.1.1.10'],
      ['10.1.1.10', '10.1.1.9'],
    ] as const)
      for (const last of [newer, '10.1.1.77']) {
        const node = new TestNode();
        await node.resync();
        await node.add('web', 'c1');
        const record = JSON.parse((await node.localStore.get('local/ipam/address/10.1.1.2'))!);
        await node.localStore.delete('local/ipam/address/10.1.1.2');
        for (const address of [older, newer])
          await node.localStore.put(
            `local/ipam/address/${address}`,
            JSON.stringify({ ...record, address }),
          );
        await node.localStore.put('local/ipam/last', last);
        const next = node.restart();
        await next.resync([podValue('web', older)]);
        assert.deepEqual(next.ipam.podAddresses('c1/eth0'), [newer]);
        assert.equal(next.ipam.allocations().get(older)!.attachment, undefined);
      }
  });

  it('are reserved as long as the Pod record contains them and another one is free', async () => {
    const node = await started(SMALL);
    const address = addressOf(await node.add('web', 'c1'));
    const shown = podValue('web', address);
    await node.put(shown);
    await node.del('web', 'c1');
    assert.equal(node.ipam.allocations().get(address)!.attachment, undefined);
    for (let n = 0; n < 11; n++)
      assert.notEqual(addressOf(await node.add(`p${n}`, `x${n}`)), address);
    await node.put(podValue('web', '10.1.1.99'));
    assert.equal(addressOf(await node.add('last', 'y')), address);
  });

  it('of finished pods are allocated again when no other is free, the one released first before', async () => {
    const node = await started(SMALL);
    const given: string[] = [];
    for (let n = 0; n < 12; n++) {
      given.push(addressOf(await node.add(`job-${n}`, `c${n}`)));
      await node.put(podValue(`job-${n}`, given[n]!));
    }
    for (const n of [7, 3, 5]) await node.del(`job-${n}`, `c${n}`);
    assert.equal(addressOf(await node.add('a', 'x1')), given[7]);
    assert.equal(addressOf(await node.add('b', 'x2')), given[3]);
    // released again, it is the last one
    await node.del('a', 'x1');
    assert.equal(addressOf(await node.add('d', 'x3')), given[5]);
    assert.equal(addressOf(await node.add('e', 'x4')), given[7]);
    assert.ok((await node.add('f', 'x5')).error instanceof AddressesExhaustedError);
    assert.equal(node.ipam.allocations().get(given[7]!)!.pod.name, 'e');
    // the record of the finished pod takes nothing from the new owner
    await node.remove(podValue('job-7', given[7]!));
    await node.put(podValue('job-3', ''));
    assert.ok((await node.add('f', 'x5')).error instanceof AddressesExhaustedError);
    const next = node.restart();
    await next.resync(node.state());
    assert.deepEqual(
      ['x2', 'x3', 'x4'].map((id) => next.ipam.podAddresses(`${id}/eth0`)),
      [[given[3]], [given[5]], [given[7]]],
    );
    assert.deepEqual([...next.config].sort(), [...node.config].sort());
  });

  it('of finished pods are allocated again after a restart, too, those released before it first', async () => {
    const node = await started(SMALL);
    for (let n = 0; n < 12; n++) {
      await node.put(podValue(`job-${n}`, addressOf(await node.add(`job-${n}`, `c${n}`))));
      if (n % 2 === 1) await node.del(`job-${n}`, `c${n}`);
    }
    const next = node.restart();
    await next.resync(node.state());
    await next.del('job-0', 'c0');
    const again = [];
    for (let n = 0; n < 7; n++) again.push(addressOf(await next.add(`new-${n}`, `x${n}`)));
    assert.deepEqual(
      again,
      [19, 21, 23, 25, 27, 29, 18].map((last) => `10.1.1.${last}`),
    );
  });

  it('of finished pods stay reserved if the attachment fails', async () => {
    const node = await started(SMALL);
    for (let n = 0; n < 12; n++)
      await node.put(podValue(`job-${n}`, addressOf(await node.add(`job-${n}`, `c${n}`))));
    for (const n of [0, 1]) await node.del(`job-${n}`, `c${n}`);
    node.rejects = () => true;
    assert.ok((await node.add('web', 'x1')).error);
    assert.equal(node.ipam.podAddresses('x1/eth0').length, 0);
    node.rejects = () => false;
    // the one that failed was released last
    assert.equal(addressOf(await node.add('web', 'x2')), '10.1.1.19');
    assert.equal(addressOf(await node.add('db', 'x3')), '10.1.1.18');
    // a write with an unknown outcome is undone, also for the same container
    for (const n of [2, 3]) await node.del(`job-${n}`, `c${n}`);
    node.local.afterWrite = ({ operation }) => {
      if (operation === 'compareAndSwap') throw new StoreUnavailableError('lost');
    };
    assert.ok((await node.add('api', 'x4')).error);
    node.local.afterWrite = undefined;
    assert.equal(addressOf(await node.add('cron', 'x5')), '10.1.1.20');
    assert.equal(addressOf(await node.add('api', 'x4')), '10.1.1.21');
    const next = node.restart();
    await next.resync(node.state());
    assert.deepEqual(next.ipam.podAddresses('x4/eth0'), ['10.1.1.21']);
    assert.deepEqual(next.ipam.podAddresses('x5/eth0'), ['10.1.1.20']);
  });

  it('in records of pods of other nodes are never allocated', async () => {
    const node = await started(SMALL);
    for (let n = 2; n < 14; n++)
      await node.put(podValue(`elsewhere-${n}`, `10.1.1.${16 + n}`, '172.16.0.6'));
    assert.ok((await node.add('web', 'c1')).error instanceof AddressesExhaustedError);
  });

  it('are reserved across a restart, and released when the record is deleted', async () => {
    const node = await started();
    const address = addressOf(await node.add('web', 'c1'));
    await node.put(podValue('web', address));
    await node.del('web', 'c1');
    const next = node.restart();
    await next.resync(node.state());
    assert.deepEqual(inUse(next), [address]);
    await next.remove(podValue('web', address));
    assert.deepEqual(inUse(next), []);
    assert.deepEqual(await stored(next), []);
  });

  it('are never taken from an attachment because a Pod record goes', async () => {
    const node = await started();
    const address = addressOf(await node.add('web', 'c1'));
    await node.put(podValue('web', address));
    await node.remove(podValue('web', address));
    assert.equal(node.ipam.allocations().get(address)!.attachment, 'c1/eth0');
    await node.del('web', 'c1');
    assert.deepEqual(inUse(node), []);
  });

  it('wait for the last of several records that show them', async () => {
    const node = await started();
    const address = addressOf(await node.add('web', 'c1'));
    await node.put(podValue('web', address));
    await node.put(podValue('other', address));
    await node.del('web', 'c1');
    await node.remove(podValue('web', address));
    assert.deepEqual(inUse(node), [address]);
    await node.remove(podValue('other', address));
    assert.deepEqual(inUse(node), []);
  });

  it('that several records show say the same after a resync, whatever came when', async () => {
    const node = await started();
    await node.put(podValue('a', '10.1.1.9'));
    await node.put(podValue('b', '10.1.1.9'));
    await node.put(podValue('a', '10.1.1.8'));
    await node.put(podValue('a', '10.1.1.9'));
    const told = node.handlers.map((handler) => handler.describeInternalData?.());
    await node.heal();
    assert.deepEqual(
      node.handlers.map((handler) => handler.describeInternalData?.()),
      told,
    );
  });

  it('that Pod records of this subnet show without being known are not given out', async () => {
    const node = new TestNode();
    await node.resync([
      nodeValue('node-a', '172.16.0.5'),
      podValue('old', '10.1.1.2'),
      podValue('far', '10.1.2.3', '172.16.0.6'),
    ]);
    assert.deepEqual(inUse(node), ['10.1.1.2']);
    assert.equal(addressOf(await node.add('web', 'c1')), '10.1.1.3');
    await node.put(podValue('late', '10.1.1.4'));
    assert.equal(addressOf(await node.add('web2', 'c2')), '10.1.1.5');
  });

  it('of pods that died while the agent was down are free again', async () => {
    const node = await started();
    await node.add('web', 'c1');
    node.host.boot = 'boot-2';
    const next = node.restart();
    await next.resync();
    assert.deepEqual(inUse(next), []);
    assert.deepEqual(await stored(next), []);
  });

  it('are not dropped on the word of the local mirror', async () => {
    const node = await started();
    const address = addressOf(await node.add('web', 'c1'));
    await node.put(podValue('web', address));
    await node.del('web', 'c1');
    const next = node.restart();
    await next.resync([], true);
    assert.deepEqual(inUse(next), [address]);
    await next.heal();
    assert.deepEqual(inUse(next), [address]);
    await next.resync([]);
    assert.deepEqual(inUse(next), []);
  });

  it('are allocated again to the pod whose record contains them when no other address is free', async () => {
    const node = await started(SMALL);
    const given = new Map<string, string>();
    for (let n = 0; n < 12; n++) {
      const address = addressOf(await node.add(`p${n}`, `c${n}`));
      given.set(`p${n}`, address);
      await node.put(podValue(`p${n}`, address));
    }
    node.host.boot = 'boot-2';
    const next = node.restart();
    await next.resync(node.state());
    assert.equal(addressOf(await next.add('p7', 'd7')), given.get('p7'));
    const last = next.restart();
    await last.resync(next.state());
    assert.deepEqual(last.ipam.podAddresses('d7/eth0'), [given.get('p7')]);
  });

  it('that a running container holds are not had again by the next one of its pod', async () => {
    const node = await started(SMALL);
    for (let n = 0; n < 12; n++) {
      const address = addressOf(await node.add(`p${n}`, `c${n}`));
      await node.put(podValue(`p${n}`, address));
    }
    assert.ok((await node.add('p7', 'd7')).error instanceof AddressesExhaustedError);
    assert.equal(node.ipam.podAddresses('c7/eth0').length, 1);
  });

  it('that the store knows and the agent does not are left out', async () => {
    const node = await started();
    const pod = { namespace: 'default', name: 'x' };
    const record = { address: '10.1.1.2', pod, attachment: 'cx/eth0' };
    await node.localStore.put('local/ipam/address/10.1.1.2', JSON.stringify(record));
    await node.localStore.put('local/ipam/address/10.1.1.3', 'rubbish');
    // the runtime repeats what failed
    for (const address of ['10.1.1.2', '10.1.1.3']) {
      const { error } = await node.add('web', 'c1');
      assert.ok(error instanceof AddressRecordedError && error.where === address);
    }
    assert.equal(addressOf(await node.add('web', 'c1')), '10.1.1.4');
    assert.equal(node.ipam.allocations().get('10.1.1.2')!.pod.name, 'x');
  });

  it('are not given out twice when an answer of the store is lost', async () => {
    const node = await started();
    node.local.afterWrite = ({ operation }) => {
      if (operation === 'putIfAbsent') throw new StoreUnavailableError('lost');
    };
    assert.ok((await node.add('web', 'c1')).error);
    node.local.afterWrite = undefined;
    assert.deepEqual(await stored(node), ['10.1.1.2']);
    assert.equal(addressOf(await node.add('db', 'c2')), '10.1.1.3');
    await node.heal();
    const next = node.restart();
    await next.resync();
    assert.deepEqual(await stored(next), ['10.1.1.3']);
  });

  it('stay with the pod after a repeated request', async () => {
    const node = await started();
    for (let n = 2; n <= 8; n++) await node.add(`p${n}`, `c${n}`);
    node.local.afterWrite = ({ operation }) => {
      if (operation === 'putIfAbsent') throw new StoreUnavailableError('lost');
    };
    assert.ok((await node.add('web', 'c77')).error);
    node.local.afterWrite = undefined;
    const told = addressOf(await node.add('web', 'c77'));
    await node.heal();
    assert.deepEqual(node.ipam.podAddresses('c77/eth0'), [told]);
    const next = node.restart();
    await next.resync();
    assert.deepEqual(next.ipam.podAddresses('c77/eth0'), [told]);
    assert.equal((await stored(next)).length, 8);
  });

  it('stay with the pod after a repeated request of which the store had refused a part', async () => {
    const node = await started();
    for (let n = 2; n <= 8; n++) await node.add(`p${n}`, `c${n}`);
    // the record of the address is written, that of the last address is not
    node.local.beforeWrite = ({ keys }) => {
      if (keys.includes('local/ipam/last')) throw new StoreUnavailableError('full');
    };
    assert.ok((await node.add('web', 'c77')).error);
    node.local.beforeWrite = undefined;
    const told = addressOf(await node.add('web', 'c77'));
    await node.put(podValue('web', told));
    await node.add('db', 'c78');
    const next = node.restart();
    await next.resync(node.state());
    assert.deepEqual(next.ipam.podAddresses('c77/eth0'), [told]);
    assert.equal((await stored(next)).length, 9);
  });

  it('are released by a repeated DEL if the store has failed, whether it has written or not', async () => {
    for (const at of ['beforeWrite', 'afterWrite'] as const) {
      const node = await started(SMALL);
      for (let n = 0; n < 12; n++) addressOf(await node.add(`p${n}`, `c${n}`));
      node.local[at] = () => {
        throw new StoreUnavailableError('lost');
      };
      assert.ok((await node.del('p5', 'c5')).error);
      node.local[at] = undefined;
      assert.equal((await node.del('p5', 'c5')).error, undefined);
      assert.equal(addressOf(await node.add('web', 'c77')), '10.1.1.23');
      assert.equal((await stored(node)).length, 12);
    }
  });

  it('are not thought free because the store cannot be read', async () => {
    const node = await started();
    await node.add('web', 'c1');
    const next = node.restart();
    const list = next.local.list.bind(next.local);
    next.local.list = (prefix) =>
      prefix.includes('ipam') ? Promise.reject(new Error('disk')) : list(prefix);
    assert.ok((await next.resync()).error instanceof FatalError);
  });

  it('of running pods are not forgotten because the store cannot write', async () => {
    const node = await started();
    const told = addressOf(await node.add('web', 'c1'));
    const full = () => {
      throw new StoreUnavailableError('full');
    };
    await node.localStore.put('local/ipam/address/10.1.1.99', 'no json');
    const next = node.restart();
    next.local.beforeWrite = full;
    assert.equal((await next.resync()).error, undefined, 'the invalid record stays where it is');
    assert.deepEqual(next.ipam.podAddresses('c1/eth0'), [told]);

    await node.localStore.delete(`local/ipam/address/${told}`);
    const tap = podLinkNames({ containerId: 'c1', interfaceName: 'eth0' }, true).vpp;
    const one = { swIfIndex: 5, internalName: 'tap5', deviceType: 'virtio', mtu: 1500 };
    node.vpp.nics = [{ ...one, tag: tap }];
    node.vpp.neighbors.set(5, { mac: '', neighbors: [{ address: told, mac: '' }] });
    const last = node.restart();
    last.local.beforeWrite = full;
    const { error } = await last.resync();
    assert.ok(error instanceof AbortEventError, 'nothing is committed');
    last.local.beforeWrite = undefined;
    assert.equal((await last.heal()).error, undefined);
    assert.deepEqual(last.ipam.podAddresses('c1/eth0'), [told]);
  });

  it('outside the subnet of this node stay with who holds them after a change of the plan', async () => {
    const node = await started();
    const address = addressOf(await node.add('web', 'c1'));
    const yaml = 'ipamConfig: {podSubnetCIDR: 10.7.0.0/16, nodeInterconnectCIDR: 192.168.16.0/24}';
    const next = node.restart({ yaml });
    await next.resync();
    assert.deepEqual(next.ipam.podAddresses('c1/eth0'), [address]);
    // the subnets stay in use while one of their pods runs
    assert.equal(addressOf(await next.add('db', 'c2')), '10.1.1.3');
    await next.del('web', 'c1');
    await next.del('db', 'c2');
    assert.equal(addressOf(await next.add('new', 'c3')), '10.7.1.2');
    assert.deepEqual(await stored(next), ['10.7.1.2']);
  });

  it('say nothing before the first resync', () => {
    assert.throws(() => new TestNode().ipam.podGateway(), FatalError);
  });

  it('refuse a plan in which this node has no place', async () => {
    const node = new TestNode({ yaml: SMALL });
    for (let id = 1; id <= 16; id++)
      await node.clusterStore.put(
        `/vnf-agent/contiv-ksr/allocatedIDs/${id}`,
        `{"id":${id},"name":"other-${id}"}`,
      );
    const { error } = await node.resync();
    assert.ok(error instanceof AbortEventError);
    assert.match(error.message, /no ID is left: node ID 17/);
  });

  it('are held by at most one, whatever happens when', async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('add' as const), n: fc.nat(15) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('del' as const), n: fc.nat(15) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('show' as const), n: fc.nat(15) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('hide' as const), n: fc.nat(15) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('heal' as const), n: fc.nat(0) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), n: fc.nat(1) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const), n: fc.nat(6) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('half' as const), n: fc.nat(63) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('refuse' as const), n: fc.nat(15) }) },
    );
    const plans = fc.constantFrom(SMALL, SMALL6);
    await fc.assert(
      fc.asyncProperty(plans, fc.array(step, { maxLength: 40 }), async (yaml, steps) => {
        let node = await started(yaml);
        /** The address that the runtime has received and uses until DEL. */
        const running = new Map<string, string>();
        const next = async (change: 'local' | 'remote') => {
          const state = node.state();
          node = node.restart();
          const { error } = await node.resync(state, change === 'local');
          assert.equal(error, undefined);
        };
        for (const { kind, n } of steps) {
          const pod = `p${n}`;
          if (kind === 'add' || kind === 'refuse') {
            node.rejects = () => kind === 'refuse';
            const outcome = await node.add(pod, `c${n}`);
            if (!outcome.error) running.set(pod, addressOf(outcome));
            node.rejects = () => false;
          } else if (kind === 'del') {
            if (!(await node.del(pod, `c${n}`)).error) running.delete(pod);
          } else if (kind === 'show') {
            const address = running.get(pod);
            if (address) await node.put(podValue(pod, address));
          } else if (kind === 'hide') await node.remove(podValue(pod, ''));
          else if (kind === 'heal') await node.heal();
          else if (kind === 'restart') await next(n ? 'local' : 'remote');
          else if (kind === 'half') {
            // a DEL during which the agent dies is repeated
            const gone = `p${n % 16}`;
            node.local.crashAt(node.local.crashPoints + Math.floor(n / 16));
            await node.del(gone, `c${n % 16}`);
            await next('remote');
            assert.equal((await node.del(gone, `c${n % 16}`)).error, undefined);
            running.delete(gone);
          } else {
            node.local.crashAt(node.local.crashPoints + n);
            await node.add('crashing', 'c77');
            await next('remote');
            assert.equal((await node.del('crashing', 'c77')).error, undefined);
          }
          assert.equal(new Set(running.values()).size, running.size, 'an address is used twice');
          for (const [name, address] of running) {
            assert.deepEqual(node.ipam.podAddresses(`c${name.slice(1)}/eth0`), [address], name);
            assert.ok((await stored(node)).includes(address));
          }
        }
        // an address without owner and Pod record is free
        await node.resync();
        const shown = node
          .state()
          .map(({ value }) => (value as { ip_address?: string }).ip_address)
          .filter((address) => address !== undefined);
        assert.deepEqual(inUse(node), [...new Set([...running.values(), ...shown])].sort());
        const before = node.ipam.allocations();
        await node.heal();
        assert.deepEqual(node.ipam.allocations(), before);
      }),
      { numRuns: 60 },
    );
  });

  it('are those of the plan before a resync that was aborted', async () => {
    const node = new TestNode();
    await node.resync([nodeValue('node-a', '172.16.0.5')]);
    // the next resync allocates another node ID
    await node.clusterStore.put('/vnf-agent/contiv-ksr/allocatedIDs/1', '{"id":1,"name":"node-z"}');
    node.abortResyncs();
    assert.ok((await node.resync()).error instanceof AbortEventError);
    const [reply] = (await node.add('web', 'c1')).replies as AddPodReply[];
    assert.deepEqual(reply!.interfaces![0]!.addresses, [
      { family: 4, address: '10.1.1.2/32', gateway: '10.1.1.1' },
    ]);
    assert.equal(node.ipam.podSubnetThisNode(), '10.1.1.0/24');
  });
});

describe('documents of ipam', () => {
  it('show the plan in force under the names of the configuration', async () => {
    const yaml = 'ipamConfig: {contivCIDR: 10.128.0.0/14, defaultGateway: 10.130.0.7}';
    const { conf } = await started(yaml);
    const node = {
      id: 3,
      name: 'n',
      addresses: ['10.130.0.3/23'],
      networks: [{ family: 4, podSubnet: '10.128.1.128/25', vppHostSubnet: '10.129.1.128/25' }],
    } as const;
    assert.deepEqual(ipamDocument(conf.ipam(), node), {
      nodeId: 3,
      nodeName: 'n',
      nodeIP: '10.130.0.3',
      podSubnetThisNode: '10.128.1.128/25',
      vppHostNetwork: '10.129.1.128/25',
      config: {
        contivCIDR: '10.128.0.0/14',
        serviceCIDR: '10.96.0.0/12',
        podSubnetCIDR: '10.128.0.0/16',
        podSubnetOneNodePrefixLen: 25,
        vppHostSubnetCIDR: '10.129.0.0/16',
        vppHostSubnetOneNodePrefixLen: 25,
        nodeInterconnectCIDR: '10.130.0.0/23',
        vxlanCIDR: '10.130.2.0/23',
        defaultGateway: '10.130.0.7',
        srv6: {},
      },
    });
  });

  it('contain the addresses that pods own, not the reserved ones', async () => {
    const node = await started();
    await node.add('web', 'c1', 'net1');
    await node.add('web', 'c1');
    const address = addressOf(await node.add('gone', 'c2'));
    await node.put(podValue('gone', address));
    await node.del('gone', 'c2');
    assert.deepEqual(allocationsDocument(node.ipam.allocations().values(), 4), {
      Pods: [
        {
          PodID: { Name: 'web', Namespace: 'default' },
          MainIP: '10.1.1.3',
          CustomIfIPs: { net1: '10.1.1.2' },
        },
      ],
    });
  });
});
