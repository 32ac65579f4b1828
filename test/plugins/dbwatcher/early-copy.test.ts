/** The copy of the database that is made while VPP is not connected. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { EarlyCopy } from '#plugins/dbwatcher/early-copy.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { AGENT_PREFIX, fill, KSR, namespaceKey, settle } from './watcher-harness.ts';

const nodeConfigKey = `${KSR}k8s/nodeconfig/node1`;
const ID = `${KSR}allocatedIDs/1`;
const RECORD = JSON.stringify({ id: 1, name: 'node1' });

class Node {
  readonly database = new MemoryStore();
  readonly cluster = new FaultInjectingStore(this.database);
  readonly mirror = new MemoryStore();
  readonly clock = new ManualClock();
  readonly connected = Promise.withResolvers<void>();
  reserved = 0;
  decisions = 0;

  start(): Promise<void> {
    const copy = new EarlyCopy({
      cluster: this.cluster,
      mirror: this.mirror,
      nodeName: 'node1',
      agentPrefix: AGENT_PREFIX,
      nodeConfigKey,
      isNeeded: ({ kubeState }) => {
        this.decisions++;
        return kubeState['nodeconfig']?.['k8s/nodeconfig/node1'] !== undefined;
      },
      reserveId: async () => {
        this.reserved++;
        await this.database.put(ID, RECORD);
        return { key: ID, value: RECORD };
      },
      clock: this.clock,
      log: silentLogger,
    });
    return copy.untilConnected(this.connected.promise);
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await settle();
  }

  putNodeConfig(nic: string): Promise<void> {
    return this.database.put(
      nodeConfigKey,
      JSON.stringify({ node_name: 'node1', steal_interface: nic }),
    );
  }

  async copied(key: string): Promise<string | undefined> {
    return this.mirror.get(key);
  }
}

describe('the copy of the database before VPP starts', () => {
  it('has all records and the ID of the node, once the NodeConfig asks for it', async () => {
    const node = new Node();
    await fill(node.database);
    const copying = node.start();
    await node.advance(20_000);
    assert.deepEqual([node.decisions, node.reserved], [1, 0]);
    assert.deepEqual((await node.mirror.list('')).entries, []);

    await node.putNodeConfig('eth0');
    await node.advance(10_000);
    assert.equal(node.reserved, 1);
    assert.equal(await node.copied(ID), RECORD);
    assert.match((await node.copied(nodeConfigKey)) ?? '', /eth0/);
    assert.ok(await node.copied(namespaceKey('default')));

    await node.putNodeConfig('eth1');
    await node.advance(10_000);
    assert.match((await node.copied(nodeConfigKey)) ?? '', /eth1/);
    node.connected.resolve();
    await copying;
  });

  it('is made when the database answers at last', async () => {
    const node = new Node();
    await fill(node.database);
    await node.putNodeConfig('eth0');
    node.cluster.disconnect();
    const copying = node.start();
    await node.advance(10_000);
    assert.equal(await node.copied(ID), undefined);
    node.cluster.reconnect();
    await node.advance(5_000);
    assert.equal(await node.copied(ID), RECORD);
    node.connected.resolve();
    await copying;
  });

  it('is not made any more when VPP is connected', async () => {
    const node = new Node();
    await fill(node.database);
    await node.putNodeConfig('eth0');
    node.cluster.disconnect();
    const copying = node.start();
    await node.advance(5_000);
    node.connected.resolve();
    await copying;
    node.cluster.reconnect();
    await node.advance(10_000);
    assert.equal(await node.copied(ID), undefined);
    assert.equal(node.clock.pending, 0);
  });

  it('does not replace the mirror by a database that has lost the state of Kubernetes', async () => {
    const node = new Node();
    await fill(node.mirror);
    const copying = node.start();
    await node.advance(10_000);
    assert.ok(await node.copied(namespaceKey('default')));
    assert.equal(node.reserved, 0);
    node.connected.resolve();
    await copying;
  });
});
