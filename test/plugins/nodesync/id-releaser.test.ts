/** IDs of nodes that have left the cluster are freed, and never while a node may use them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { IdReleaser } from '#plugins/nodesync/id-releaser.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { settle } from '../dbwatcher/watcher-harness.ts';
import { TestNode } from '../test-node.ts';

const PREFIX = '/vnf-agent/contiv-ksr/';
const MINUTE = 60_000;
const MARKED = /^\{.*\}\n[ \t]{32}$/;
const idKey = (id: number) => `${PREFIX}allocatedIDs/${id}`;
const nodeKey = (name: string) => `${PREFIX}k8s/node/${name}`;

/** A database, and the time of all agents. */
class Cluster {
  readonly database = new MemoryStore();
  readonly clock = new ManualClock();
  readonly random = seededRandom(7);
  readonly #running: IdReleaser[] = [];

  /** Starts the releaser of a node. */
  releaser(nodeName: string, store: FaultInjectingStore = this.connect()): IdReleaser {
    const { clock, random } = this;
    const releaser = new IdReleaser({
      nodeName,
      cluster: store,
      clock,
      random,
      log: silentLogger,
    });
    releaser.start();
    this.#running.push(releaser);
    return releaser;
  }

  connect(): FaultInjectingStore {
    return new FaultInjectingStore(this.database);
  }

  /** Writes the Node record. */
  async reflect(...names: string[]): Promise<void> {
    for (const name of names) await this.database.put(nodeKey(name), JSON.stringify({ name }));
  }

  async record(id: number, name: string): Promise<string> {
    const text = JSON.stringify({ id, name, ip_addresses: [`192.168.16.${id}/24`] });
    await this.database.put(idKey(id), text);
    return text;
  }

  text(id: number): Promise<string | undefined> {
    return this.database.get(idKey(id));
  }

  async advance(minutes: number): Promise<void> {
    for (let step = 0; step < minutes; step++) {
      await this.clock.advance(MINUTE);
      await settle();
    }
  }

  async close(): Promise<void> {
    for (const releaser of this.#running) await releaser.close();
  }
}

/** Nodes 1 and 2 with their records, and node 2 was seen by the releaser of node 1. */
async function twoNodes() {
  const cluster = new Cluster();
  await cluster.reflect('node-1', 'node-2');
  await cluster.record(1, 'node-1');
  const text = await cluster.record(2, 'node-2');
  const store = cluster.connect();
  const releaser = cluster.releaser('node-1', store);
  await cluster.advance(5);
  return { cluster, store, releaser, text };
}

describe('the ID of a removed node', () => {
  it('is marked after ten minutes, freed ten minutes later, and allocated again', async () => {
    const { cluster, text } = await twoNodes();
    await cluster.database.delete(nodeKey('node-2'));
    await cluster.advance(9);
    assert.equal(await cluster.text(2), text);
    await cluster.advance(5);
    const marked = await cluster.text(2);
    assert.match(marked!, MARKED);
    assert.deepEqual(JSON.parse(marked!), JSON.parse(text), 'the value is the same');
    await cluster.advance(6);
    assert.equal(await cluster.text(2), marked);
    await cluster.advance(8);
    assert.equal(await cluster.text(2), undefined);
    const next = new TestNode({ name: 'node-3', cluster: cluster.database });
    await next.resync();
    assert.equal(next.nodes.thisNode().id, 2);
    await cluster.close();
  });

  it('is freed without a gap in the IDs, however many nodes come and go', async () => {
    const { cluster } = await twoNodes();
    for (let round = 0; round < 20; round++) {
      const name = `spot-${round}`;
      await cluster.reflect(name);
      const node = new TestNode({ name, cluster: cluster.database });
      await node.resync();
      assert.equal(node.nodes.thisNode().id, 3);
      await cluster.advance(5);
      await cluster.database.delete(nodeKey(name));
      await cluster.advance(30);
    }
    await cluster.close();
  });

  it('stays when the node is back before it was freed, and the mark is removed', async () => {
    const { cluster, text } = await twoNodes();
    await cluster.database.delete(nodeKey('node-2'));
    await cluster.advance(14);
    assert.match((await cluster.text(2))!, MARKED);
    await cluster.reflect('node-2');
    await cluster.advance(3);
    assert.equal(await cluster.text(2), text, 'also for an agent that knows no mark');
    await cluster.advance(60);
    assert.equal(await cluster.text(2), text);
    await cluster.close();
  });

  it('stays while an agent of the node runs', async () => {
    const { cluster, text } = await twoNodes();
    cluster.releaser('node-3');
    cluster.releaser('node-2');
    await cluster.reflect('node-3');
    await cluster.advance(5);
    await cluster.database.delete(nodeKey('node-2'));
    for (let minute = 0; minute < 300; minute++) {
      await cluster.advance(1);
      assert.equal((await cluster.text(2))?.trimEnd(), text);
    }
    await cluster.close();
  });

  it('stays without a Node record that was seen before', async () => {
    const cluster = new Cluster();
    await cluster.reflect('node-1');
    const texts = [await cluster.record(1, 'node-1'), await cluster.record(2, 'node-2')];
    await cluster.database.put(idKey(3), 'not json');
    await cluster.database.put(idKey(4), '{"id":5,"name":"node-4"}');
    cluster.releaser('node-1');
    await cluster.advance(120);
    assert.deepEqual(await Promise.all([1, 2].map((id) => cluster.text(id))), texts);
    assert.equal(await cluster.text(3), 'not json');
    assert.equal(await cluster.text(4), '{"id":5,"name":"node-4"}');
    await cluster.close();
  });

  it('stays when all Node records are missing, that of the own node too', async () => {
    const { cluster, text } = await twoNodes();
    for (const name of ['node-1', 'node-2']) await cluster.database.delete(nodeKey(name));
    await cluster.advance(120);
    assert.equal(await cluster.text(2), text);
    await cluster.reflect('node-1');
    await cluster.advance(9);
    assert.equal(await cluster.text(2), text, 'the grace period begins again');
    await cluster.close();
  });

  it('stays when the Node record is missing in another database', async () => {
    const { cluster } = await twoNodes();
    cluster.database.wipe();
    await cluster.reflect('node-1');
    await cluster.record(1, 'node-1');
    const text = await cluster.record(2, 'node-2');
    await cluster.advance(120);
    assert.equal(await cluster.text(2), text);
    await cluster.close();
  });

  it('stays during an outage, and is freed after it', async () => {
    const { cluster, store, text } = await twoNodes();
    store.disconnect();
    await cluster.database.delete(nodeKey('node-2'));
    await cluster.advance(60);
    assert.equal(await cluster.text(2), text);
    store.reconnect();
    await cluster.advance(30);
    assert.equal(await cluster.text(2), undefined);
    await cluster.close();
  });

  it('is freed by one of several agents', async () => {
    const { cluster } = await twoNodes();
    await cluster.reflect('node-3');
    await cluster.record(3, 'node-3');
    cluster.releaser('node-3');
    await cluster.advance(5);
    await cluster.database.delete(nodeKey('node-2'));
    await cluster.advance(30);
    assert.equal(await cluster.text(2), undefined);
    assert.ok(await cluster.text(1));
    assert.ok(await cluster.text(3));
    await cluster.close();
  });

  it('is freed wherever an agent crashes, by an agent that starts later or by another one', async () => {
    // mark and deletion, each with a crash before and after it
    for (const point of [0, 1, 2, 3]) {
      const { cluster, store } = await twoNodes();
      await cluster.reflect('node-3');
      await cluster.advance(3);
      await cluster.database.delete(nodeKey('node-2'));
      store.crashPoints = 0;
      store.crashAt(point);
      await cluster.advance(40);
      assert.equal((await cluster.text(2)) === undefined, point === 3, `crash point ${point}`);
      if (point > 0) {
        // the mark is in the database: an agent that has never seen the Node record continues
        cluster.releaser('node-3');
        await cluster.advance(20);
        assert.equal(await cluster.text(2), undefined, `crash point ${point}`);
      }
      assert.ok(await cluster.text(1));
      await cluster.close();
    }
  });
});

describe('a node that comes back', () => {
  /** Node 2 has allocated an ID, has stopped and has left; its record is marked. */
  async function marked() {
    const { cluster } = await twoNodes();
    const first = new TestNode({ name: 'node-2', cluster: cluster.database });
    await first.resync();
    await cluster.database.delete(nodeKey('node-2'));
    await cluster.advance(14);
    assert.match((await cluster.text(2))!, MARKED);
    return { cluster, node: first.restart() };
  }

  it('removes the mark before it uses its ID', async () => {
    const { cluster, node } = await marked();
    await node.resync();
    assert.equal(node.nodes.thisNode().id, 2);
    assert.match((await cluster.text(2))!, /\}$/);
    await cluster.close();
  });

  it('removes a mark that was set while it published its addresses', async () => {
    const { cluster, node } = await marked();
    const text = await cluster.text(2);
    await node.resync();
    await cluster.database.put(idKey(2), text!);
    await node.resync([]);
    assert.match((await cluster.text(2))!, /\}$/);
    await cluster.close();
  });

  it('allocates its ID again, or another one, when the deletion was first', async () => {
    for (const isTaken of [false, true]) {
      const { cluster, node } = await marked();
      let deleted = false;
      node.cluster.beforeWrite = async () => {
        if (deleted) return;
        deleted = true;
        await cluster.database.delete(idKey(2));
        if (isTaken) await cluster.record(2, 'node-9');
      };
      assert.equal((await node.resync()).error, undefined);
      const id = isTaken ? 3 : 2;
      assert.equal(node.nodes.thisNode().id, id);
      assert.equal(JSON.parse((await cluster.text(id))!).name, 'node-2');
      assert.deepEqual(node.nodes.problems?.(), []);
      const again = node.restart();
      await again.resync();
      assert.equal(again.nodes.thisNode().id, id);
      await cluster.close();
    }
  });

  it('uses the other ID, whatever write it crashes at', async () => {
    for (let point = 0; point < 6; point++) {
      const { cluster, node } = await marked();
      await cluster.record(2, 'node-9');
      node.cluster.crashAt(point);
      node.local.crashAt(point % 3);
      await node.resync();
      const next = node.restart({ cluster: cluster.database });
      assert.equal((await next.resync()).error, undefined, `crash point ${point}`);
      assert.equal(next.nodes.thisNode().id, 3);
      assert.deepEqual(next.nodes.problems?.(), []);
      await cluster.close();
    }
  });
});

/** A machine of the random runs. Its agent restarts with the same local store. */
class Machine {
  readonly #cluster: Cluster;
  readonly name: string;
  #node: TestNode;
  #releaser: IdReleaser | undefined;
  #store: FaultInjectingStore | undefined;
  /** ID that the running agent uses. */
  id: number | undefined;

  constructor(cluster: Cluster, name: string) {
    this.#cluster = cluster;
    this.name = name;
    this.#node = new TestNode({ name, cluster: cluster.database });
  }

  get isRunning(): boolean {
    return this.#store !== undefined;
  }

  async start(): Promise<void> {
    if (this.isRunning) return;
    const store = this.#cluster.connect();
    // other agents read and write between any two steps of this one
    store.beforeWrite = store.afterWrite = async () => {
      for (let turns = this.#cluster.random.next() * 40; turns > 0; turns--) await undefined;
    };
    this.#store = store;
    this.#node = this.#node.restart({ cluster: store });
    this.#releaser = this.#cluster.releaser(this.name, store);
    const { error } = await this.#node.resync();
    if (this.#store !== store) return;
    assert.equal(error, undefined);
    this.id = this.#node.nodes.thisNode().id;
    assert.deepEqual(this.#node.nodes.problems?.(), []);
  }

  crash(): void {
    this.#store?.disconnect('crashed');
    this.#store = undefined;
    this.id = undefined;
    void this.#releaser?.close();
  }
}

describe('random histories of agents that free IDs while nodes leave and return', () => {
  const step = fc.record({
    machine: fc.nat(3),
    action: fc.constantFrom('start', 'crash', 'join', 'leave', 'remove', 'none'),
    minutes: fc.integer({ min: 0, max: 26 }),
    isConcurrent: fc.boolean(),
  });

  it('never give one ID to two running nodes, keep the IDs of Kubernetes nodes, and free the others', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const cluster = new Cluster();
        const machines = [0, 1, 2, 3].map((n) => new Machine(cluster, `node-${n}`));
        /** IDs that nodes have used since they are in Kubernetes. */
        const kept = new Map<string, number>();
        const join = async (machine: Machine) => {
          await cluster.reflect(machine.name);
          await machine.start();
          if (machine.id !== undefined) kept.set(machine.name, machine.id);
        };
        const remove = async ({ name }: Machine) => {
          kept.delete(name);
          await cluster.database.delete(nodeKey(name));
        };
        const check = async () => {
          const owners = new Map<number, string>();
          for (const { id, name } of machines) {
            if (id === undefined) continue;
            assert.equal(owners.get(id) ?? name, name, `ID ${id} is used twice`);
            owners.set(id, name);
            assert.equal(JSON.parse((await cluster.text(id))!).name, name);
          }
          for (const [name, id] of kept)
            assert.equal(JSON.parse((await cluster.text(id))!).name, name);
        };
        for (const machine of machines.slice(0, 3)) await join(machine);
        await cluster.advance(5);
        for (const { machine: at, action, minutes, isConcurrent } of steps) {
          const machine = machines[at]!;
          const running: Promise<void>[] = [];
          if (action === 'start') running.push(machine.start());
          else if (action === 'join') running.push(join(machine));
          else if (action === 'remove') await remove(machine);
          else if (action !== 'none') machine.crash();
          if (action === 'leave') await remove(machine);
          if (!isConcurrent) await Promise.all(running);
          for (let minute = 0; minute < minutes; minute++) {
            await cluster.advance(1);
            await check();
          }
          await Promise.all(running);
          await check();
        }
        // progress: with one node left, all other IDs are freed
        for (const machine of machines) await join(machine);
        await cluster.advance(5);
        await check();
        for (const machine of machines.slice(1)) {
          machine.crash();
          await remove(machine);
        }
        await cluster.advance(40);
        const { entries } = await cluster.database.list(`${PREFIX}allocatedIDs/`);
        assert.deepEqual(
          entries.map(({ value }) => JSON.parse(value).name),
          ['node-0'],
        );
        await cluster.close();
      }),
      { numRuns: 60 },
    );
  });
});
