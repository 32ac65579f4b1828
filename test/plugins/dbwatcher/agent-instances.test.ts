/** Two agents with one label: both must report it, and a restarted agent must not. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { AgentInstances } from '#plugins/dbwatcher/agent-instances.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { settle } from './watcher-harness.ts';

const PREFIX = '/contiv-vswitch/agents/';

class Cluster {
  readonly database = new MemoryStore();
  readonly clock = new ManualClock();
  writes = 0;

  /** A started agent. */
  async agent(label: string, host: string, instance = host) {
    const store = new FaultInjectingStore(this.database);
    store.beforeWrite = () => void this.writes++;
    const states: string[] = [];
    const instances = new AgentInstances({
      store,
      label,
      instance,
      host,
      clock: this.clock,
      log: silentLogger,
      reportState: (state, error) => states.push(error ? String(error) : state),
    });
    instances.start();
    await this.advance(10_000);
    return { store, instances, state: () => states.at(-1)! };
  }

  async advance(ms: number): Promise<void> {
    for (let step = 0; step < Math.max(1, ms / 1_000); step++) {
      await this.clock.advance(Math.min(ms, 1_000));
      await settle();
    }
  }

  async keys(): Promise<string[]> {
    return (await this.database.list(PREFIX)).entries.map(({ key }) => key.slice(PREFIX.length));
  }
}

describe('a second agent with the same label', () => {
  it('is reported by both, with its host, until it ends', async () => {
    const cluster = new Cluster();
    const [a, b] = [await cluster.agent('node1', 'host-a'), await cluster.agent('node1', 'host-b')];
    const other = await cluster.agent('node2', 'host-c');
    await cluster.advance(40_000);
    assert.match(a.state(), /another agent with the label node1 is running on host host-b/);
    assert.match(b.state(), /another agent with the label node1 is running on host host-a/);
    assert.equal(other.state(), 'ok');
    await b.instances.close();
    await cluster.advance(20_000);
    assert.equal(a.state(), 'ok');
    await a.instances.close();
    await other.instances.close();
    assert.deepEqual(await cluster.keys(), []);
  });

  it('is not a restarted agent, whose old key is deleted', async () => {
    const cluster = new Cluster();
    const first = await cluster.agent('node1', 'host-a', 'first');
    first.store.disconnect('killed');
    const second = await cluster.agent('node1', 'host-a', 'second');
    for (let step = 0; step < 8; step++) {
      await cluster.advance(10_000);
      assert.equal(second.state(), 'ok');
    }
    assert.deepEqual(await cluster.keys(), ['node1/second']);
    await second.instances.close();
    await first.instances.close();
  });

  it('is no more reported when it was killed', async () => {
    const cluster = new Cluster();
    const [a, b] = [await cluster.agent('node1', 'host-a'), await cluster.agent('node1', 'host-b')];
    await cluster.advance(40_000);
    b.store.disconnect('killed');
    await cluster.advance(60_000);
    assert.equal(a.state(), 'ok');
    await a.instances.close();
    await b.instances.close();
  });

  it('costs one write while there is none, and an outage or a wipe changes nothing', async () => {
    const cluster = new Cluster();
    const a = await cluster.agent('node1', 'host-a');
    await cluster.advance(300_000);
    assert.equal(cluster.writes, 1);
    a.store.disconnect();
    await cluster.advance(60_000);
    cluster.database.wipe();
    a.store.reconnect();
    await cluster.advance(20_000);
    assert.equal(a.state(), 'ok');
    assert.deepEqual(await cluster.keys(), ['node1/host-a']);
    await a.instances.close();
  });
});
