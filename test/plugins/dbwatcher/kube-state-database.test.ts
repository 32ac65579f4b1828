import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StoreUnavailableError } from '#datastore/api.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { resourceList } from '#kubernetes/resources/resources.ts';
import { loadKubeStateForResync, resyncDatabase } from '#plugins/dbwatcher/api.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import {
  AGENT_PREFIX,
  interfaceKey,
  interfaceText,
  KSR,
  namespaceKey,
  namespaceText,
  nodeKey,
} from './watcher-harness.ts';

const clock = new ManualClock();
const load = (store: MemoryStore, log = silentLogger) => loadKubeStateForResync(store, clock, log);
const textsOf = async (store: MemoryStore, prefix: string) =>
  new Map((await store.list(prefix)).entries.map(({ key, value }) => [key, value]));

async function filled(names: readonly string[]): Promise<MemoryStore> {
  const store = new MemoryStore();
  for (const name of names) await store.put(namespaceKey(name), namespaceText(name, 'x'));
  await store.put(interfaceKey('loop1'), interfaceText('loop1'));
  return store;
}

describe('the state of Kubernetes in a database', () => {
  it('is loaded as a resync event and by keys, without external configuration', async () => {
    const { event, values } = await load(await filled(['a', 'b']));
    const { kubeState, externalConfig, local } = event.payload;
    assert.equal(local, false);
    assert.deepEqual(externalConfig, {});
    assert.deepEqual(
      Object.keys(kubeState),
      resourceList.map(({ keyword }) => keyword),
    );
    assert.deepEqual(Object.keys(kubeState['namespace']!), ['k8s/namespace/a', 'k8s/namespace/b']);
    assert.deepEqual([...values.keys()], [namespaceKey('a'), namespaceKey('b')]);
    assert.equal(values.get(namespaceKey('a')), kubeState['namespace']!['k8s/namespace/a']);
  });

  it('ignores invalid values, and logs their keys', async () => {
    const store = await filled(['a']);
    await store.put(nodeKey('b'), '{"name":');
    const warnings: unknown[] = [];
    const log = { ...silentLogger, warn: (fields: unknown) => void warnings.push(fields) };
    const { values } = await load(store, log);
    assert.deepEqual([...values.keys()], [namespaceKey('a')]);
    assert.equal((warnings[0] as { key: string }).key, nodeKey('b'));
  });

  it('is written to a database that then holds it and no other', async () => {
    const source = await filled(Array.from({ length: 250 }, (_, n) => `new-${n}`));
    const target = await filled(['old', 'new-7']);
    await target.put(`${AGENT_PREFIX}other`, 'text');
    await target.put('/elsewhere', 'text');
    const { event } = await load(source);
    await resyncDatabase(target, event.payload.kubeState, clock);
    assert.deepEqual((await load(target)).event.payload, event.payload);
    assert.equal((await textsOf(target, KSR)).size, 250);
    assert.equal(await target.get(interfaceKey('loop1')), interfaceText('loop1'));
    assert.equal(await target.get('/elsewhere'), 'text');
  });

  it('is not written again if it is unchanged', async () => {
    const target = await filled(['a', 'b']);
    const { event } = await load(target);
    await resyncDatabase(target, event.payload.kubeState, clock);
    const writes: unknown[] = [];
    const watched = {
      list: (prefix: string) => target.list(prefix),
      putAll: async (changes: unknown) => void writes.push(changes),
    };
    await resyncDatabase(watched, event.payload.kubeState, clock);
    assert.deepEqual(writes, []);
  });

  it('that was written half is completed by the next call', async () => {
    const source = await filled(Array.from({ length: 150 }, (_, n) => `n${n}`));
    const target = await filled(['old']);
    const { event } = await load(source);
    let calls = 0;
    const failing = {
      list: (prefix: string) => target.list(prefix),
      putAll: async (changes: ReadonlyMap<string, string | undefined>) => {
        if (++calls === 2) throw new StoreUnavailableError('gone');
        await target.putAll(changes);
      },
    };
    await assert.rejects(
      resyncDatabase(failing, event.payload.kubeState, clock),
      StoreUnavailableError,
    );
    assert.ok(await target.get(namespaceKey('old')), 'nothing is deleted before all is written');
    await resyncDatabase(failing, event.payload.kubeState, clock);
    assert.deepEqual((await load(target)).event.payload, event.payload);
  });

  it('cannot be read or written while the database is unavailable', async () => {
    const store = new FaultInjectingStore(new MemoryStore());
    store.disconnect();
    await assert.rejects(loadKubeStateForResync(store, clock, silentLogger), StoreUnavailableError);
  });

  it('rejects unknown resources', async () => {
    const store = new MemoryStore();
    await assert.rejects(resyncDatabase(store, { nonsense: {} }, clock), /keyword nonsense/);
  });
});
