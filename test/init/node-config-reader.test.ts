import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type KvStore, StoreUnavailableError } from '#datastore/api.ts';
import { LevelStore } from '#datastore/level-store.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { type FoundNodeConfig, NodeConfigReader } from '#init/node-config-reader.ts';
import { MemoryStore } from '#test/support/memory-store.ts';

const KEY = '/vnf-agent/contiv-ksr/k8s/nodeconfig/node1';
const RECORD = 'local/contivconf/node-config';
const text = (nic: string): string => JSON.stringify({ node_name: 'node1', steal_interface: nic });
const record = (nic: string | undefined): string =>
  JSON.stringify({ nodeConfig: nic === undefined ? null : JSON.parse(text(nic)), stolen: null });

const silentEtcd: Pick<KvStore, 'get'> = {
  get: () => Promise.reject(new StoreUnavailableError('etcd does not answer')),
};

class Databases {
  readonly folder = mkdtempSync(join(tmpdir(), 'databases-'));
  readonly etcd = new MemoryStore();
  readonly #open: LevelStore[] = [];
  readonly stop = new AbortController();
  waits = 0;

  constructor(t: TestContext) {
    t.after(async () => {
      this.stop.abort();
      for (const store of this.#open) await store.close();
      rmSync(this.folder, { recursive: true });
    });
  }

  /** A database of the agent, which has it open. */
  async write(name: 'local' | 'mirror', key: string, value: string): Promise<void> {
    const folder = join(this.folder, name);
    const store = await LevelStore.open({ folder, log: silentLogger });
    this.#open.push(store);
    await store.put(key, value);
  }

  async find(etcd: Pick<KvStore, 'get'> | undefined): Promise<FoundNodeConfig> {
    const reader = new NodeConfigReader({
      nodeName: 'node1',
      etcd,
      localFolder: join(this.folder, 'local'),
      mirrorFolder: join(this.folder, 'mirror'),
      clock: systemClock,
      random: systemRandom,
      log: silentLogger,
    });
    return await reader.read(this.stop.signal, async () => void this.waits++);
  }

  async read(etcd: Pick<KvStore, 'get'> | undefined): Promise<string | undefined> {
    return (await this.find(etcd)).nodeConfig?.steal_interface;
  }
}

describe('the NodeConfig of a node', () => {
  it('is that of etcd', async (t) => {
    const databases = new Databases(t);
    await databases.etcd.put(KEY, text('eth1'));
    await databases.write('mirror', KEY, text('eth2'));
    assert.equal(await databases.read(databases.etcd), 'eth1');
  });

  it('is that of the mirror while etcd does not answer, also when the agent has it open', async (t) => {
    const databases = new Databases(t);
    await databases.write('mirror', KEY, text('eth2'));
    await databases.write('local', RECORD, record('eth3'));
    assert.equal(await databases.read(silentEtcd), 'eth2');
    assert.equal(databases.waits, 0);
  });

  it('is the last valid one when the mirror is missing, and when the current one is invalid', async (t) => {
    const databases = new Databases(t);
    await databases.write('local', RECORD, record('eth3'));
    assert.equal(await databases.read(silentEtcd), 'eth3');
    await databases.etcd.put(KEY, '{"steal_interface": 7}');
    assert.equal(await databases.read(databases.etcd), 'eth3');
  });

  it('is found with the invalid text in place of which the last valid one is used', async (t) => {
    const databases = new Databases(t);
    const invalid = '{"steal_interface": 7}';
    await databases.write('local', RECORD, record('eth3'));
    await databases.write('mirror', KEY, invalid);
    const { nodeConfig, text: found } = await databases.find(silentEtcd);
    assert.deepEqual([nodeConfig?.steal_interface, found], ['eth3', invalid]);
  });

  it('is none when the record of the last valid one cannot be read', async (t) => {
    for (const damaged of ['{', '{"nodeConfig":{"steal_interface":7}}', 'null']) {
      const databases = new Databases(t);
      await databases.write('local', RECORD, damaged);
      assert.equal(await databases.read(silentEtcd), undefined);
    }
  });

  it('is none when it was deleted, or when the node was configured without one', async (t) => {
    const databases = new Databases(t);
    await databases.write('local', RECORD, record('eth3'));
    assert.equal(await databases.read(databases.etcd), undefined);
    assert.equal(databases.waits, 0);
  });

  it('is waited for on a node that never had one', { timeout: 30_000 }, async (t) => {
    const databases = new Databases(t);
    const reading = databases.read(databases.etcd);
    while (databases.waits === 0) await systemClock.sleep(20);
    await databases.etcd.put(KEY, text('eth1'));
    assert.equal(await reading, 'eth1');
  });
});
