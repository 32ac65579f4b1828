/** The status of NodeConfigs, from the decisions of the nodes in the datastore. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { ApiServer, KindHandlers, KindWatch } from '#ksr/api-server/api.ts';
import { statusError } from '#ksr/api-server/api-errors.ts';
import { NodeConfigStatusWriter } from '#ksr/node-config-status.ts';
import { nodeConfigModel } from '#kubernetes/models/node-config.ts';
import { nodeConfigDigest, nodeConfigStatusModel } from '#kubernetes/models/node-config-status.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import { MemoryStore } from '#test/support/memory-store.ts';

interface KubeObject {
  metadata: { name: string; namespace: string; generation: number; creationTimestamp: string };
  spec: { gateway: string };
  status?: Record<string, unknown>;
}

/** Answers of the API server about NodeConfigs, without a connection. */
class StubApiServer implements ApiServer {
  readonly objects = new Map<string, KubeObject>();
  readonly patches: string[] = [];
  readonly errors: Error[] = [];
  /** Awaited by the answer of a patch, after its watch event. */
  answering: Promise<unknown> = Promise.resolve();
  handlers: KindHandlers | undefined;
  /** Requests are not answered. */
  isSilent = false;

  watch(_kind: unknown, handlers: KindHandlers): KindWatch {
    this.handlers = handlers;
    this.list();
    const nothing = () => undefined;
    return { state: 'watching', since: 0, error: undefined, refresh: nothing, close: nothing };
  }

  list(): void {
    this.handlers?.listing();
    this.handlers?.changed([...this.objects.values()]);
    this.handlers?.listed();
  }

  put(name: string, gateway: string, namespace = 'default', creationTimestamp = ''): void {
    const id = `${namespace}/${name}`;
    const before = this.objects.get(id);
    const generation = (before?.metadata.generation ?? 0) + 1;
    const metadata = { name, namespace, generation, creationTimestamp };
    const object = { ...before, metadata, spec: { gateway } };
    this.objects.set(id, object);
    this.handlers?.changed([object]);
  }

  async patchStatus(path: string, status: object, signal: AbortSignal): Promise<void> {
    if (this.isSilent)
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    const error = this.errors.shift();
    if (error) throw error;
    const [, namespace, name] = /namespaces\/(.*)\/nodeconfigs\/(.*)$/.exec(path)!;
    const object = this.objects.get(`${namespace}/${name}`);
    if (!object) throw statusError(404, '', path);
    const patched = { ...object, status: { ...object.status, ...status } };
    this.objects.set(`${namespace}/${name}`, patched);
    this.patches.push(`${namespace}/${name}`);
    this.handlers?.changed([patched]);
    await this.answering;
  }

  status(name: string, namespace = 'default') {
    const { since, ...status } = this.objects.get(`${namespace}/${name}`)?.status ?? {};
    return status;
  }
}

class Bench {
  readonly clock = new ManualClock();
  readonly api = new StubApiServer();
  readonly database = new MemoryStore();
  readonly store = new FaultInjectingStore(this.database);
  writer = this.#started();

  #started(): NodeConfigStatusWriter {
    const { clock, api: apiServer, store } = this;
    const random = seededRandom(1);
    const deps = { apiServer, store, clock, random, log: silentLogger };
    const writer = new NodeConfigStatusWriter(deps);
    writer.start();
    return writer;
  }

  async restart(): Promise<void> {
    await this.writer.close();
    this.writer = this.#started();
  }

  async decide(node: string, gateway: string, state: string, message = ''): Promise<void> {
    const record = nodeConfigModel.canonical({ node_name: node, gateway });
    const refused_fields = message ? [{ field: 'gateway', reason: message }] : [];
    const decision = nodeConfigStatusModel.canonical({
      node_name: node,
      state,
      node_config: nodeConfigDigest(record),
      message,
      refused_fields,
      since: '2026-01-01T00:00:00.000Z',
    });
    const text = JSON.stringify(nodeConfigStatusModel.toJson(decision));
    await this.store.put(nodeConfigStatusModel.key(decision), text);
  }
}

const applied = (observedGeneration: number) => ({
  state: 'Applied',
  message: '',
  observedGeneration,
  refusedFields: [],
});

describe('the status of a NodeConfig', () => {
  it('is the decision about its present content, and is written once', async () => {
    const { api, clock, decide, ...bench } = bound();
    api.put('n1', '10.0.0.1');
    await clock.advance(5_000);
    assert.deepEqual(api.patches, []);
    await decide('n1', '10.0.0.1', 'Applied');
    await clock.advance(5_000);
    assert.deepEqual(api.status('n1'), applied(1));
    assert.equal(api.objects.get('default/n1')?.status?.['since'], '2026-01-01T00:00:00.000Z');
    api.put('n1', 'x');
    await clock.advance(5_000);
    assert.deepEqual(api.status('n1'), applied(1), 'the old decision is about generation 1');
    await decide('n1', 'x', 'Refused', 'not an address');
    await clock.advance(5_000);
    assert.deepEqual(api.status('n1'), {
      state: 'Refused',
      message: 'not an address',
      observedGeneration: 2,
      refusedFields: [{ field: 'gateway', reason: 'not an address' }],
    });
    await bench.restart();
    api.list();
    await clock.advance(60_000);
    assert.equal(api.patches.length, 2);
  });

  it('is that of a decision that comes while the last one is written', async () => {
    const { api, clock, decide } = bound();
    api.put('n1', '10.0.0.1');
    await decide('n1', '10.0.0.1', 'Applied');
    const { promise, resolve } = Promise.withResolvers<void>();
    api.answering = promise;
    await clock.advance(2_000);
    await decide('n1', '10.0.0.1', 'Failed', 'no such interface');
    await clock.advance(1_000);
    resolve();
    await clock.advance(5_000);
    assert.equal(api.status('n1')['state'], 'Failed');
  });

  it('stays while the decisions are read again', async () => {
    const { api, clock, decide, store } = bound();
    api.put('n1', '10.0.0.1');
    await decide('n1', '10.0.0.1', 'Applied');
    await clock.advance(40_000);
    store.loseWatches();
    store.disconnect('test');
    await clock.advance(5_000);
    api.list();
    await clock.advance(5_000);
    assert.deepEqual(api.status('n1'), applied(1));
    assert.equal(api.patches.length, 1);
  });

  it('says that no node has decided, also of one that is removed', async () => {
    const { api, clock, decide, store } = bound();
    api.put('n1', '10.0.0.1');
    await clock.advance(40_000);
    assert.equal(api.status('n1')['state'], 'Waiting');
    await decide('n1', '10.0.0.1', 'Applied');
    await clock.advance(5_000);
    assert.deepEqual(api.status('n1'), applied(1));
    await store.delete('/vnf-agent/contiv-nodeconfig/n1');
    await clock.advance(40_000);
    assert.equal(api.status('n1')['state'], 'Waiting');
  });

  it('names the object of another namespace that is in use', async () => {
    const { api, clock, decide } = bound();
    api.put('n1', '10.0.0.1', 'a', '2026-02-01T00:00:00Z');
    api.put('n1', '10.0.0.2', 'b', '2026-01-01T00:00:00Z');
    await decide('n1', '10.0.0.2', 'Applied');
    await clock.advance(5_000);
    assert.deepEqual(api.status('n1', 'b'), applied(1));
    assert.match(String(api.status('n1', 'a')['message']), /^b\/n1 configures the node/);
    assert.equal(api.status('n1', 'a')['state'], 'Superseded');
  });

  it('of an object of another namespace does not follow the decision about an equal one', async () => {
    const { api, clock, decide } = bound();
    api.put('n1', '10.0.0.1', 'a');
    api.put('n1', '10.0.0.1', 'b');
    await decide('n1', '10.0.0.1', 'Applied');
    await clock.advance(5_000);
    assert.deepEqual(api.status('n1', 'a'), applied(1));
    assert.equal(api.status('n1', 'b')['state'], 'Superseded');
    api.objects.delete('a/n1');
    api.list();
    await clock.advance(5_000);
    assert.deepEqual(api.status('n1', 'b'), applied(1));
  });

  it('is written after errors of the API server and of the datastore', async () => {
    const { api, clock, decide, store } = bound();
    for (const code of [409, 429, 503, 403]) api.errors.push(statusError(code, '', 'test', 2_000));
    api.put('n1', '10.0.0.1');
    api.put('n2', '10.0.0.1');
    store.disconnect('test');
    await clock.advance(10_000);
    store.reconnect();
    await decide('n1', '10.0.0.1', 'Applied');
    await decide('n2', '10.0.0.1', 'Applied');
    await clock.advance(120_000);
    assert.deepEqual(api.status('n1'), applied(1));
    assert.deepEqual(api.status('n2'), applied(1));
    assert.deepEqual(api.errors, []);
  });

  it('stays while the decisions cannot be read again, and is corrected afterwards', async () => {
    const { api, clock, decide, store, database } = bound();
    api.put('n1', '10.0.0.1');
    api.put('n2', '10.0.0.1');
    await decide('n1', '10.0.0.1', 'Applied');
    await decide('n2', '10.0.0.1', 'Applied');
    await clock.advance(60_000);
    store.loseWatches();
    store.disconnect('test');
    await clock.advance(60_000);
    api.list();
    await clock.advance(10_000);
    assert.deepEqual(api.status('n1'), applied(1));
    await database.delete('/vnf-agent/contiv-nodeconfig/n2');
    store.reconnect();
    await clock.advance(60_000);
    assert.deepEqual(api.status('n1'), applied(1));
    assert.equal(api.status('n2')['state'], 'Waiting');
  });

  it('is given up at the end of the leadership when the API server does not answer', async () => {
    const { api, clock, decide, restart } = bound();
    api.put('n1', '10.0.0.1');
    api.isSilent = true;
    await decide('n1', '10.0.0.1', 'Applied');
    await clock.advance(5_000);
    const restarted = restart().then(() => 'restarted');
    assert.equal(await Promise.race([restarted, clock.advance(20_000)]), 'restarted');
    api.isSilent = false;
    await clock.advance(5_000);
    assert.deepEqual(api.status('n1'), applied(1));
  });

  it('of an object that has no record names the reason, and the others are written', async () => {
    const { api, clock, decide } = bound();
    api.put('n1', '\ud800');
    api.put('n2', '10.0.0.1');
    await decide('n2', '10.0.0.1', 'Applied');
    await clock.advance(5_000);
    assert.equal(api.status('n1')['state'], 'Refused');
    assert.match(String(api.status('n1')['message']), /gateway/);
    assert.deepEqual(api.status('n2'), applied(1));
  });

  it('of an object that is deleted meanwhile stops nothing', async () => {
    const { api, clock, decide } = bound();
    api.put('n1', '10.0.0.1');
    api.put('n2', '10.0.0.1');
    api.objects.delete('default/n1');
    await decide('n1', '10.0.0.1', 'Applied');
    await decide('n2', '10.0.0.1', 'Applied');
    await clock.advance(5_000);
    assert.deepEqual(api.patches, ['default/n2']);
  });
});

function bound() {
  const bench = new Bench();
  const { api, clock, store, database } = bench;
  return {
    api,
    clock,
    store,
    database,
    decide: bench.decide.bind(bench),
    restart: bench.restart.bind(bench),
  };
}

it('a leader that resigns does not wait for a datastore that does not answer', async () => {
  const store = new FaultInjectingStore(new MemoryStore());
  store.pages = () => new Promise(() => undefined);
  const [clock, random] = [new ManualClock(), seededRandom(1)];
  const deps = { apiServer: new StubApiServer(), store, clock, random, log: silentLogger };
  const writer = new NodeConfigStatusWriter(deps);
  writer.start();
  await writer.close();
});
