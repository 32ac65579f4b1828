import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type KvStore, StoreUnavailableError } from '#datastore/api.ts';
import { LevelStore } from '#datastore/level-store.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import { systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { AgentCopy } from '#init/agent-copy.ts';
import { type NodeConfig, nodeConfigModel } from '#kubernetes/models/node-config.ts';
import { MemoryStore } from '#test/support/memory-store.ts';

const KSR = '/vnf-agent/contiv-ksr/';
const NODE_CONFIG = `${KSR}k8s/nodeconfig/node1`;
const record = (id: number, name: string) =>
  [`${KSR}allocatedIDs/${id}`, JSON.stringify({ id, name })] as const;
const text = (nic: string): string => JSON.stringify({ node_name: 'node1', steal_interface: nic });
const nodeConfig = (nic: string): NodeConfig =>
  nodeConfigModel.parseKnown(JSON.parse(text(nic)), NODE_CONFIG).value;

const silentEtcd: Pick<KvStore, 'get'> = {
  get: () => Promise.reject(new StoreUnavailableError('etcd does not answer')),
};

/** The wait of contiv-init for the mirror of the agent. */
class Wait {
  readonly folder = mkdtempSync(join(tmpdir(), 'copy-'));
  readonly clock = new ManualClock();
  readonly stop = new AbortController();
  etcd: Pick<KvStore, 'get'> | undefined = new MemoryStore();
  waits = 0;
  isOver = false;
  #store: LevelStore | undefined;

  constructor(t: TestContext) {
    t.after(async () => {
      this.stop.abort();
      await this.#store?.close();
      rmSync(this.folder, { recursive: true });
    });
  }

  get #mirrorFolder(): string {
    return join(this.folder, 'mirror');
  }

  /** The agent has it open. */
  async write(key: string, value: string): Promise<void> {
    this.#store ??= await LevelStore.open({ folder: this.#mirrorFolder, log: silentLogger });
    await this.#store.put(key, value);
  }

  /** @returns whether the NodeConfig is still that of etcd */
  start(nodeConfig?: NodeConfig, followsNodeConfig = false, text?: string): Promise<boolean> {
    const copy = new AgentCopy({
      nodeName: 'node1',
      etcd: this.etcd && { get: (key) => this.etcd!.get(key) },
      mirrorFolder: this.#mirrorFolder,
      clock: this.clock,
      random: systemRandom,
      log: silentLogger,
    });
    const request = { nodeConfig, text, followsNodeConfig };
    this.isOver = false;
    const waiting = copy.whenComplete(request, this.stop.signal, async () => void this.waits++);
    return waiting.finally(() => {
      this.isOver = true;
    });
  }

  /** Lets it look several times. @returns whether it has ended */
  async look(times: number): Promise<boolean> {
    for (let at = 0; at < times && !this.isOver; at++) {
      // The copy of the files takes real time.
      for (let slept = 0; slept < 500 && this.clock.pending === 0 && !this.isOver; slept++)
        await new Promise((resolve) => setTimeout(resolve, 5));
      await this.clock.advance(1_000);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    return this.isOver;
  }
}

describe('contiv-init, before VPP takes over a NIC,', () => {
  it('waits until the agent has copied the ID of the node', async (t) => {
    const wait = new Wait(t);
    const waiting = wait.start();
    assert.equal(await wait.look(3), false);
    assert.ok(wait.waits > 0, 'the agent was started');
    await wait.write(...record(1, 'node2'));
    assert.equal(await wait.look(3), false);
    await wait.write(...record(2, 'node1'));
    assert.equal(await wait.look(2), true);
    await waiting;
  });

  it('does not wait for a copy that is complete, nor without etcd', async (t) => {
    const wait = new Wait(t);
    await wait.write(...record(2, 'node1'));
    await wait.write(NODE_CONFIG, text('eth0'));
    wait.etcd = silentEtcd;
    await wait.start(nodeConfig('eth0'));
    assert.equal(wait.waits, 0);
    const other = new Wait(t);
    other.etcd = undefined;
    await other.start();
    assert.equal(other.waits, 0);
  });

  it('waits for the NodeConfig that names the NIC', async (t) => {
    const wait = new Wait(t);
    await wait.write(...record(2, 'node1'));
    await wait.write(NODE_CONFIG, text('eth0'));
    const waiting = wait.start(nodeConfig('eth1'));
    assert.equal(await wait.look(3), false);
    await wait.write(NODE_CONFIG, text('eth1'));
    assert.equal(await wait.look(2), true);
    await waiting;
  });

  it('ends the wait when etcd has another NodeConfig', async (t) => {
    const wait = new Wait(t);
    const etcd = new MemoryStore();
    wait.etcd = etcd;
    await etcd.put(NODE_CONFIG, text('eth0'));
    const waiting = wait.start(nodeConfig('eth0'), true);
    assert.equal(await wait.look(3), false);
    await etcd.put(NODE_CONFIG, text('eth1'));
    assert.equal(await wait.look(3), true);
    assert.equal(await waiting, false);
    const again = wait.start(nodeConfig('eth1'), true);
    await etcd.delete(NODE_CONFIG);
    await wait.look(3);
    assert.equal(await again, false);
  });

  it('has a complete copy also of a NodeConfig that is invalid', async (t) => {
    const wait = new Wait(t);
    const etcd = new MemoryStore();
    wait.etcd = etcd;
    const invalid = '{"node_name":';
    await etcd.put(NODE_CONFIG, invalid);
    await wait.write(...record(2, 'node1'));
    // The node keeps its last valid one.
    const waiting = wait.start(nodeConfig('eth0'), true);
    assert.equal(await wait.look(3), false);
    await wait.write(NODE_CONFIG, invalid);
    assert.equal(await wait.look(3), true);
    assert.equal(await waiting, true);
  });

  it('does not wait for etcd when the copy has the invalid NodeConfig that was read', async (t) => {
    const wait = new Wait(t);
    wait.etcd = silentEtcd;
    const invalid = '{"node_name":';
    await wait.write(...record(2, 'node1'));
    await wait.write(NODE_CONFIG, invalid);
    assert.equal(await wait.start(nodeConfig('eth0'), true, invalid), true);
    assert.equal(wait.waits, 0);
  });

  it('waits a minute for an agent that copies nothing, and any time for etcd', async (t) => {
    const wait = new Wait(t);
    wait.etcd = silentEtcd;
    const waiting = wait.start();
    assert.equal(await wait.look(100), false);
    wait.etcd = new MemoryStore();
    assert.equal(await wait.look(40), false);
    assert.equal(await wait.look(30), true);
    await waiting;
  });

  it('ends with the stop', async (t) => {
    const wait = new Wait(t);
    wait.etcd = silentEtcd;
    const waiting = wait.start();
    assert.equal(await wait.look(2), false);
    wait.stop.abort(new Error('stopped'));
    await assert.rejects(waiting, /stopped/);
  });
});
