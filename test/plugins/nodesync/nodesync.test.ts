import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { StoreRefusedError, StoreUnavailableError } from '#datastore/api.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { AbortEventError } from '#plugins/controller/api/errors.ts';
import type { RevertContext, Tell } from '#plugins/controller/api/event-handler.ts';
import { NodeUpdate } from '#plugins/nodesync/api.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { addressOf, nodeValue, podValue, sorted, TestNode, vppNodeValue } from '../test-node.ts';

const key = (id: number) => `/vnf-agent/contiv-ksr/allocatedIDs/${id}`;
const ctx = {
  clock: new ManualClock(),
  log: silentLogger,
  callPort: async <T>(_question: string, port: () => Promise<T> | T): Promise<T> => port(),
};

/** As a resync does that no handler has aborted. */
async function publish(node: TestNode, addresses: string[], family: 4 | 6): Promise<void> {
  const calls: Tell[] = [];
  node.nodes.publishAddresses({ onSuccess: (tell) => calls.push(tell) }, addresses, family);
  for (const tell of calls) await tell(ctx as unknown as RevertContext);
}

/** Starts a node and gives its ID. */
async function start(node: TestNode): Promise<number> {
  const { error } = await node.resync();
  if (error) throw error;
  return node.nodes.thisNode().id;
}

function problemsOf(node: TestNode): string {
  return (node.nodes.problems?.() ?? []).map(({ message }) => message).join();
}

async function records(store: MemoryStore): Promise<Record<string, unknown>> {
  const { entries } = await store.list('/vnf-agent/contiv-ksr/allocatedIDs/');
  return Object.fromEntries(
    entries.map(({ key: one, value }) => [one.split('/').at(-1), JSON.parse(value).name]),
  );
}

describe('node ID', () => {
  it('is the lowest free one, with the record format of the original', async () => {
    const cluster = new MemoryStore();
    await cluster.put(key(1), '{"id":1,"name":"node-x"}');
    await cluster.put(key(3), '{"id":3,"name":"node-y"}');
    const node = new TestNode({ cluster });
    assert.equal(await start(node), 2);
    assert.deepEqual(JSON.parse((await cluster.get(key(2)))!), {
      id: 2,
      name: 'node-a',
      ip_addresses: ['192.168.16.2/24'],
    });
  });

  it('is allocated before the first resync, which then needs no cluster', async () => {
    const cluster = new MemoryStore();
    await cluster.put(key(1), '{"id":1,"name":"node-x"}');
    const node = new TestNode({ cluster });
    const record = await node.nodes.reserveId(ctx, new Map());
    assert.equal(record?.key, key(2));
    assert.equal(record.value, await cluster.get(key(2)));
    assert.deepEqual(await node.nodes.reserveId(ctx, new Map()), record);
    const unreachable = new FaultInjectingStore(cluster);
    unreachable.disconnect();
    const restarted = node.restart({ cluster: unreachable });
    assert.equal(await start(restarted), 2);
  });

  it('is the one that the cluster has for this name, whatever the local store knows', async () => {
    const cluster = new MemoryStore();
    await cluster.put(key(7), '{"id":7,"name":"node-a"}');
    const node = new TestNode({ cluster });
    assert.equal(await start(node), 7);
    assert.equal(await start(node.restart()), 7);
    assert.equal(await start(node.restart({ local: new MemoryStore() })), 7);
  });

  it('is taken back under the same number when the cluster has lost everything', async () => {
    const first = new TestNode({ name: 'node-b', cluster: new MemoryStore() });
    const local = first.localStore;
    await first.clusterStore.put(key(1), '{"id":1,"name":"node-x"}');
    assert.equal(await start(first), 2);
    const wiped = new MemoryStore();
    assert.equal(await start(first.restart({ cluster: wiped, local })), 2);
    assert.deepEqual(await records(wiped), { 2: 'node-b' });
  });

  it('stays when another node has it by then; the problem names both until it ends', async () => {
    const node = new TestNode();
    assert.equal(await start(node), 1);
    assert.equal((await node.add('web', 'c1')).error, undefined);
    const wiped = new MemoryStore();
    const other = '{"id":1,"name":"node-z"}';
    await wiped.put(key(1), other);
    const restarted = node.restart({ cluster: wiped });
    assert.equal(await start(restarted), 1);
    assert.match(problemsOf(restarted), /node-a.*node ID 1.*node-z/);
    assert.equal((await restarted.add('web-2', 'c2')).error, undefined);
    assert.equal(await wiped.get(key(1)), other);
    await wiped.delete(key(1));
    assert.equal(await start(restarted), 1);
    assert.equal(problemsOf(restarted), '');
    assert.deepEqual(await records(wiped), { 1: 'node-a' });
  });

  it('is reported at run time, too, and the other node gets no tunnel', async () => {
    const node = new TestNode();
    await start(node);
    const other = vppNodeValue(1, 'node-z', '192.168.16.9/24');
    await node.put(nodeValue('node-z', '172.16.0.9'));
    const before = new Map(node.config);
    assert.equal((await node.put(other)).error, undefined);
    assert.match(problemsOf(node), /node-a.*node-z/);
    assert.deepEqual(node.config, before);
    assert.equal((await node.heal()).error, undefined);
    assert.deepEqual(node.config, before);
    await node.put(vppNodeValue(1, 'node-a', '192.168.16.1/24'));
    assert.equal(problemsOf(node), '');
  });

  it('is written again when its own record is invalid', async () => {
    for (const junk of ['not json', '{"id":1,"name":"node-a","color":"blue"}', '[]', '{}', '']) {
      const node = new TestNode();
      await start(node);
      await node.clusterStore.put(key(1), junk);
      const restarted = node.restart();
      assert.equal(await start(restarted), 1, junk);
      assert.equal(problemsOf(restarted), '');
      const { ip_addresses } = JSON.parse((await node.clusterStore.get(key(1)))!);
      assert.deepEqual(ip_addresses, ['192.168.16.1/24']);
      await node.clusterStore.put(key(1), junk);
      assert.equal((await restarted.resync([])).error, undefined);
      assert.deepEqual(await records(node.clusterStore as MemoryStore), { 1: 'node-a' });
    }
  });

  it('ignores a previous record with the same ID', async () => {
    const node = new TestNode();
    // the snapshot is older than the claim: the previous holder is still in it
    const stale = [vppNodeValue(1, 'node-z')];
    const { error } = await node.resync(stale);
    assert.equal(error, undefined);
    assert.equal(node.nodes.thisNode().id, 1);
    assert.equal((await node.put(nodeValue('node-c', '10.0.0.3'))).error, undefined);
    assert.equal((await node.remove(vppNodeValue(1, 'node-z'))).error, undefined);
    assert.deepEqual(await records(node.clusterStore as MemoryStore), { 1: 'node-a' });
  });

  it('is written again if the record of an existing node is deleted', async () => {
    const node = new TestNode();
    await node.resync([nodeValue('node-a', '172.16.0.5'), vppNodeValue(1, 'node-a')]);
    await node.clusterStore.delete(key(1));
    await node.remove(vppNodeValue(1, 'node-a'));
    const record = JSON.parse((await node.clusterStore.get(key(1)))!);
    assert.deepEqual(record.ip_addresses, ['192.168.16.1/24']);
  });

  it('is written again when a snapshot of the cluster lacks it', async () => {
    const node = new TestNode();
    await start(node);
    await node.clusterStore.delete(key(1));
    await node.heal();
    assert.equal(await node.clusterStore.get(key(1)), undefined);
    await node.resync([]);
    const record = JSON.parse((await node.clusterStore.get(key(1)))!);
    assert.deepEqual(record.ip_addresses, ['192.168.16.1/24']);
  });

  it('stays released when the node itself has left the cluster, until it is back', async () => {
    const node = new TestNode();
    const self = nodeValue('node-a', '172.16.0.5');
    await node.resync([self, vppNodeValue(1, 'node-a')]);
    await node.remove(self);
    await node.clusterStore.delete(key(1));
    await node.remove(vppNodeValue(1, 'node-a'));
    assert.equal(await node.clusterStore.get(key(1)), undefined);
    await node.put(self);
    assert.ok(await node.clusterStore.get(key(1)));
  });

  it('survives a lost reply without taking a second number', async () => {
    const node = new TestNode();
    let lost = false;
    node.cluster.afterWrite = ({ operation }) => {
      if (operation !== 'putIfAbsent' || lost) return;
      lost = true;
      throw new StoreUnavailableError('reply lost');
    };
    await assert.rejects(start(node), AbortEventError);
    assert.ok(lost);
    assert.equal(await start(node.restart()), 1);
    assert.deepEqual(await records(node.clusterStore as MemoryStore), { 1: 'node-a' });
  });

  it('is read from the local store while the cluster is unavailable, and confirmed later', async () => {
    const first = new TestNode();
    await start(first);
    const node = first.restart();
    node.cluster.disconnect();
    const { error, portCalls } = await node.resync([], true);
    assert.equal(error, undefined);
    assert.equal(node.nodes.thisNode().id, 1);
    assert.deepEqual(
      portCalls.filter((question) => question.startsWith('cluster')),
      [],
      'a database that does not answer is not waited for',
    );
    assert.equal((await node.add('web', 'c1')).error, undefined);
    node.cluster.reconnect();
    await node.clusterStore.put(key(1), '{"id":1,"name":"node-z"}');
    assert.equal((await node.resync([vppNodeValue(1, 'node-z')])).error, undefined);
    assert.match(problemsOf(node), /node-z/);
    assert.equal(node.nodes.thisNode().id, 1);
  });

  it('is another one when the cluster is back, has given it to another node, and no pod runs', async () => {
    const first = new TestNode();
    await start(first);
    const node = first.restart();
    node.cluster.disconnect();
    assert.equal((await node.resync([], true)).error, undefined);
    const before = [...node.config.keys()];
    node.cluster.reconnect();
    const other = '{"id":1,"name":"node-z","ip_addresses":["192.168.16.1/24"]}';
    await node.clusterStore.put(key(1), other);
    const published: unknown[] = [];
    node.cluster.afterWrite = async () => {
      published.push(JSON.parse((await node.clusterStore.get(key(2)))!).ip_addresses);
    };
    const state = [vppNodeValue(1, 'node-z', '192.168.16.1/24')];
    assert.equal((await node.resync(state)).error, undefined);
    assert.equal(node.nodes.thisNode().id, 2);
    assert.equal(problemsOf(node), '');
    assert.deepEqual(published, [undefined, ['192.168.16.2/24']], 'never those of the other node');
    assert.equal(await node.clusterStore.get(key(1)), other);
    assert.notDeepEqual([...node.config.keys()], before);
    assert.equal(addressOf(await node.add('web', 'c1')), '10.1.2.2');
    // the configuration is that of an agent that never had another ID
    const again = node.restart();
    await again.resync(state);
    assert.deepEqual(sorted(again.config), sorted(node.config));
  });

  it('is another one after a reboot if the cluster has given it to another node', async () => {
    const cluster = new MemoryStore();
    const first = new TestNode({ cluster });
    await start(first);
    await first.add('web', 'c1');
    await cluster.put(key(1), '{"id":1,"name":"node-z"}');
    assert.equal(await start(first.restart()), 1, 'its pods still run');
    first.host.boot = 'boot-2';
    first.host.namespaces.clear();
    const rebooted = first.restart();
    assert.equal(await start(rebooted), 2);
    assert.equal(problemsOf(rebooted), '');
    assert.deepEqual(await records(cluster), { 1: 'node-z', 2: 'node-a' });
  });

  it('stays while an invalid record may be that of a pod', async () => {
    const cluster = new MemoryStore();
    for (const junk of ['', 'null', '{"bootId":7}']) {
      const first = new TestNode({ cluster: new MemoryStore() });
      await start(first);
      await cluster.put(key(1), '{"id":1,"name":"node-z"}');
      await first.localStore.put('local/podmanager/attachment/c1/eth0', junk);
      assert.equal(await start(first.restart({ cluster })), 1, junk);
    }
  });

  it('stays at run time, even without pods, when its record is written again', async () => {
    const node = new TestNode();
    await node.resync([nodeValue('node-a', '172.16.0.5'), vppNodeValue(1, 'node-a')]);
    const before = new Map(node.config);
    await node.clusterStore.put(key(1), '{"id":1,"name":"node-z"}');
    assert.equal((await node.remove(vppNodeValue(1, 'node-a'))).error, undefined);
    assert.equal(node.nodes.thisNode().id, 1);
    assert.deepEqual(node.config, before);
    assert.match(problemsOf(node), /node-z/);
  });

  it('is not taken back by the resync that follows an aborted one', async () => {
    const node = new TestNode();
    await node.resync([nodeValue('node-a', '172.16.0.5')]);
    await node.clusterStore.put(key(1), '{"id":1,"name":"node-z"}');
    const endAborting = node.abortResyncs();
    const state = [nodeValue('node-a', '172.16.0.5'), vppNodeValue(1, 'node-z')];
    assert.ok((await node.resync(state)).error instanceof AbortEventError);
    assert.deepEqual(await records(node.clusterStore as MemoryStore), { 1: 'node-z', 2: 'node-a' });
    endAborting();
    assert.equal((await node.heal()).error, undefined);
    assert.equal(node.nodes.thisNode().id, 2);
    assert.equal(node.ipam.podSubnetThisNode(), '10.1.2.0/24');
    const { ip_addresses } = JSON.parse((await node.clusterStore.get(key(2)))!);
    assert.deepEqual(ip_addresses, ['192.168.16.2/24']);
    assert.equal(problemsOf(node), '');
  });

  it('is checked by the resync after one that an earlier handler has aborted', async () => {
    const node = new TestNode();
    await node.resync([nodeValue('node-a', '172.16.0.5')]);
    await node.clusterStore.put(key(1), '{"id":1,"name":"node-z"}');
    const endAborting = node.abortResyncs(node.conf);
    const state = [nodeValue('node-a', '172.16.0.5'), vppNodeValue(1, 'node-z')];
    assert.ok((await node.resync(state)).error instanceof AbortEventError);
    endAborting();
    assert.equal((await node.heal()).error, undefined);
    assert.equal(node.nodes.thisNode().id, 2);
    assert.deepEqual(await records(node.clusterStore as MemoryStore), { 1: 'node-z', 2: 'node-a' });
  });

  it('is written to the database by the resync after the aborted one that has read it first', async () => {
    const local = new MemoryStore();
    const first = new TestNode({ local });
    await first.resync();
    const node = new TestNode({ local });
    await node.resync([], true);
    assert.deepEqual(await records(node.clusterStore as MemoryStore), {});
    const endAborting = node.abortResyncs(node.conf);
    assert.ok((await node.resync([])).error instanceof AbortEventError);
    endAborting();
    assert.equal((await node.heal()).error, undefined);
    assert.deepEqual(await records(node.clusterStore as MemoryStore), { 1: 'node-a' });
    const { ip_addresses } = JSON.parse((await node.clusterStore.get(key(1)))!);
    assert.deepEqual(ip_addresses, ['192.168.16.1/24']);
  });

  it('is allocated later if there is no stored ID and the database is unavailable', async () => {
    const node = new TestNode();
    node.cluster.disconnect();
    await assert.rejects(start(node), (error: Error) => {
      assert.ok(error instanceof AbortEventError);
      assert.match(error.message, /unable to allocate node ID in the database: /);
      return true;
    });
    node.cluster.reconnect();
    assert.equal((await node.heal()).error, undefined);
    assert.equal(node.nodes.thisNode().id, 1);
  });

  it('says in the text of the error why the database refuses it', async () => {
    const node = new TestNode();
    node.cluster.beforeWrite = async () => {
      throw new StoreRefusedError('etcdserver: mvcc: database space exceeded');
    };
    await assert.rejects(start(node), /unable to allocate node ID .*database space exceeded/);
  });

  it('fails after eleven conflicting allocations', async () => {
    const node = new TestNode();
    let races = 0;
    node.cluster.beforeWrite = async ({ operation, keys }) => {
      if (operation !== 'putIfAbsent') return;
      races++;
      await node.clusterStore.put(keys[0]!, `{"id":${races},"name":"fast-${races}"}`);
    };
    await assert.rejects(start(node), /other nodes allocated the same ID first in 11 attempts/);
    assert.equal(races, 11);
  });

  it('is the one that the pods of this node show when all records are lost', async () => {
    const node = new TestNode();
    const pods = [
      podValue('here-1', '10.1.5.2'),
      podValue('here-2', '10.1.5.3'),
      podValue('here-3', '10.1.9.3'),
      podValue('there', '10.1.1.2', '172.16.0.6'),
      podValue('host', '172.16.0.5'),
    ];
    await node.resync([nodeValue('node-a', '172.16.0.5'), ...pods]);
    assert.equal(node.nodes.thisNode().id, 5);
  });

  it('is none under which pods of other nodes have addresses', async () => {
    const node = new TestNode();
    const pods = [podValue('one', '10.1.1.2', '172.16.0.6'), podValue('two', '10.1.2.2', '')];
    await node.resync([nodeValue('node-a', '172.16.0.5'), ...pods]);
    assert.equal(node.nodes.thisNode().id, 3);
  });

  it('counts a record that cannot be read as taken', async () => {
    const cluster = new MemoryStore();
    await cluster.put(key(1), 'not json');
    assert.equal(await start(new TestNode({ cluster })), 2);
  });

  it('gives up a second number of its own', async () => {
    const cluster = new MemoryStore();
    await cluster.put(key(4), '{"id":4,"name":"node-a"}');
    await cluster.put(key(9), '{"id":9,"name":"node-a"}');
    assert.equal(await start(new TestNode({ cluster })), 4);
    assert.deepEqual(await records(cluster), { 4: 'node-a' });
  });

  it('is never that of another node, at whatever point each of them crashes', async () => {
    const crash = fc.record({ node: fc.nat(3), point: fc.nat(8) });
    await fc.assert(
      fc.asyncProperty(fc.array(crash, { maxLength: 12 }), async (crashes) => {
        const cluster = new MemoryStore();
        const nodes = [0, 1, 2, 3].map((n) => new TestNode({ name: `node-${n}`, cluster }));
        const used = new Map<number, string>();
        const check = (node: TestNode, id: number): void => {
          assert.equal(used.get(id) ?? node.name, node.name, `ID ${id} was given out twice`);
          used.set(id, node.name);
        };
        for (const { node: which, point } of crashes) {
          const node = nodes[which]!.restart({ cluster });
          nodes[which] = node;
          node.cluster.crashAt(point);
          node.local.crashAt(point % 3);
          await node.resync();
          try {
            check(node, node.nodes.thisNode().id);
          } catch (error) {
            // the resync was aborted
            if (!(error instanceof AbortEventError)) throw error;
          }
        }
        for (const [which, node] of nodes.entries()) {
          const last = node.restart({ cluster });
          nodes[which] = last;
          check(last, await start(last));
        }
        assert.equal(Object.keys(await records(cluster)).length, 4);
      }),
      { numRuns: 40 },
    );
  });
});

describe('announcing addresses', () => {
  it('writes only when they changed, and keeps those of the other family', async () => {
    const node = new TestNode();
    await start(node);
    node.cluster.crashPoints = 0;
    await publish(node, ['192.168.16.1/24'], 4);
    assert.equal(node.cluster.crashPoints, 0);
    await publish(node, ['fd00::1/64'], 6);
    await publish(node, ['192.168.16.9/24'], 4);
    const record = JSON.parse((await node.clusterStore.get(key(1)))!);
    assert.deepEqual(record.ip_addresses, ['fd00::1/64', '192.168.16.9/24']);
    assert.deepEqual(node.nodes.thisNode().vppAddresses, ['fd00::1/64', '192.168.16.9/24']);
  });

  it('takes over what the record says about the other family after a restart', async () => {
    const node = new TestNode();
    await start(node);
    await publish(node, ['fd00::1/64'], 6);
    const next = node.restart();
    await start(next);
    assert.deepEqual(next.nodes.thisNode().vppAddresses, ['fd00::1/64', '192.168.16.1/24']);
  });

  it('makes up for an outage with the next resync', async () => {
    const node = new TestNode();
    await start(node);
    node.cluster.disconnect();
    await publish(node, ['192.168.16.77/24'], 4);
    node.cluster.reconnect();
    await node.resync([vppNodeValue(1, 'node-a')]);
    const record = JSON.parse((await node.clusterStore.get(key(1)))!);
    assert.deepEqual(record.ip_addresses, ['192.168.16.1/24']);
  });

  it('makes up for one lost write as soon as the cluster is heard of, but not again and again', async () => {
    const clock = new ManualClock();
    const node = new TestNode();
    node.clock = clock;
    let writes = 0;
    node.cluster.beforeWrite = ({ operation }) => {
      if (operation !== 'compareAndSwap' && writes === 0) return;
      writes++;
      throw new StoreUnavailableError('no leader');
    };
    const known = nodeValue('node-a', '172.16.0.5');
    assert.equal((await node.resync([known])).error, undefined);
    assert.equal(writes, 1, 'the ID was claimed, the address could not be announced');
    const other = (n: number) => node.put(podValue(`p${n}`, '10.1.9.9'));
    assert.equal((await other(1)).error, undefined);
    assert.equal(writes, 1, 'not at once');
    await clock.advance(10_000);
    await other(2);
    await other(3);
    assert.equal(writes, 2);
    node.cluster.beforeWrite = undefined;
    await clock.advance(10_000);
    await node.remove(known);
    await clock.advance(10_000);
    await other(4);
    const text = await node.clusterStore.get(key(1));
    assert.equal(JSON.parse(text!).ip_addresses, undefined, 'who has left announces nothing');
    await node.put(known);
    const record = JSON.parse((await node.clusterStore.get(key(1)))!);
    assert.deepEqual(record.ip_addresses, ['192.168.16.1/24']);
  });

  it('is no error when the database refuses to write, as one that is full does', async () => {
    const node = new TestNode();
    node.cluster.beforeWrite = ({ operation }) => {
      if (operation === 'compareAndSwap') throw new StoreRefusedError('database space exceeded');
    };
    assert.equal((await node.resync()).error, undefined);
    assert.equal((await node.heal()).error, undefined);
  });

  it('does not trust what it remembers after a reply was lost', async () => {
    const node = new TestNode();
    await start(node);
    node.cluster.afterWrite = () => {
      throw new StoreUnavailableError('reply lost');
    };
    await publish(node, ['192.168.16.77/24'], 4);
    node.cluster.afterWrite = undefined;
    await node.resync([vppNodeValue(1, 'node-a', '192.168.16.77/24')]);
    const record = JSON.parse((await node.clusterStore.get(key(1)))!);
    assert.deepEqual(record.ip_addresses, ['192.168.16.1/24']);
  });

  it('never overwrites the record of another node', async () => {
    const node = new TestNode();
    await start(node);
    await node.clusterStore.put(key(1), '{"id":1,"name":"node-z"}');
    await publish(node, ['192.168.16.8/24'], 4);
    assert.match(problemsOf(node), /node-z/);
    assert.equal(await node.clusterStore.get(key(1)), '{"id":1,"name":"node-z"}');
  });

  it('repairs a record that was edited', async () => {
    const node = new TestNode();
    await start(node);
    await node.clusterStore.put(key(1), '{"id":1,"name":"node-a","ip_addresses":["1.1.1.1/8"]}');
    await publish(node, ['192.168.16.8/24'], 4);
    const record = JSON.parse((await node.clusterStore.get(key(1)))!);
    assert.deepEqual(record.ip_addresses, ['192.168.16.8/24']);
  });

  it('mends a record that says another ID than its key, which others would not believe', async () => {
    const cluster = new MemoryStore();
    const told = '"name":"node-a","ip_addresses":["192.168.16.5/24"]';
    await cluster.put(key(5), `{"id":3,${told}}`);
    const node = new TestNode({ cluster });
    assert.equal(await start(node), 5);
    assert.deepEqual(await cluster.get(key(5)), `{"id":5,${told}}`);
  });
});

describe('nodes of the cluster', () => {
  it('does not give out nodes that have no ID', async () => {
    const node = new TestNode();
    await node.resync([nodeValue('node-b', '172.16.0.6'), vppNodeValue(2, 'node-c')]);
    assert.deepEqual([...node.nodes.allNodes().keys()].sort(), ['node-a', 'node-c']);
  });

  it('ignores a record with the key of another ID', async () => {
    const node = new TestNode();
    const misplaced = { ...vppNodeValue(2, 'node-b'), key: 'allocatedIDs/5' };
    await node.resync([misplaced]);
    assert.deepEqual([...node.nodes.allNodes().keys()], ['node-a']);
  });

  it('is not asked before the first resync', () => {
    assert.throws(() => new TestNode().nodes.thisNode(), AbortEventError);
  });

  it('tells who joins, changes and leaves, and only that', async () => {
    const node = new TestNode();
    await start(node);
    const b = vppNodeValue(2, 'node-b', '192.168.16.2/24');
    const kube = nodeValue('node-b', '172.16.0.6');
    const told = async (event: Promise<{ followUps: readonly { payload: unknown }[] }>) =>
      (await event).followUps.map(({ payload }) => {
        const { nodeName, previous, current } = payload as Parameters<typeof NodeUpdate.event>[0];
        return [nodeName, previous?.id, current?.id, current?.managementAddresses];
      });
    assert.deepEqual(await told(node.put(kube)), []);
    assert.deepEqual(await told(node.put(b)), [['node-b', undefined, 2, ['172.16.0.6']]]);
    assert.deepEqual(await told(node.put(b)), []);
    assert.deepEqual(await told(node.put(nodeValue('node-b', '172.16.0.7'))), [
      ['node-b', 2, 2, ['172.16.0.7']],
    ]);
    assert.deepEqual(await told(node.remove(b)), [['node-b', 2, undefined, undefined]]);
    assert.deepEqual(await told(node.remove(kube)), []);
  });

  it('reports this node only if its management addresses change', async () => {
    const node = new TestNode();
    await start(node);
    const { followUps } = await node.put(vppNodeValue(1, 'node-a', '192.168.16.1/24'));
    assert.deepEqual(followUps, []);
    const moved = await node.put(nodeValue('node-a', '172.16.0.5'));
    assert.deepEqual(
      moved.followUps.map(({ kind }) => kind.id),
      [NodeUpdate.id],
    );
    assert.deepEqual(node.nodes.thisNode().managementAddresses, ['172.16.0.5']);
  });

  it('reads the obsolete address, and leaves the decision about what is none to others', async () => {
    const node = new TestNode();
    const value = { ...vppNodeValue(2, 'node-b', 'rubbish', '192.168.16.2/24') };
    const old = { ...value, value: { ...value.value, ip_address: '192.168.16.9/24' } };
    await node.resync([old, nodeValue('node-b', 'not-an-ip', '172.16.0.6')]);
    const b = node.nodes.allNodes().get('node-b')!;
    assert.deepEqual(b.vppAddresses, ['rubbish', '192.168.16.2/24', '192.168.16.9/24']);
    assert.deepEqual(b.managementAddresses, ['not-an-ip', '172.16.0.6']);
    assert.equal(node.net.nodeLink(b)?.address, '192.168.16.2');
  });
});
