import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseFlags } from '#cmd/agent/flags.ts';
import { openEnvironment } from '#cmd/agent/open-environment.ts';
import { readSettings } from '#cmd/agent/settings.ts';
import { LevelStore } from '#datastore/level-store.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { Loggers } from '#infra/log/loggers.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import { addPod, makeNode, type Node, replyAddress, startAgent, until } from './harness.ts';
import { post } from './local-request.ts';

const NAMESPACE_KEY = '/vnf-agent/contiv-ksr/k8s/namespace/default';

function environmentOf(node: Node, cluster: FaultInjectingStore) {
  return { ...node, cluster, connectVpp: node.vpp.connect() };
}

describe('an agent that starts without its database', () => {
  it('is ready with the mirror, and uses the database when it is available', async () => {
    const node = makeNode();
    await node.cluster.put(NAMESPACE_KEY, '{"name":"default"}');
    const controller = { delayLocalResync: '200ms', remoteDBProbingInterval: '30ms' };
    {
      const environment = environmentOf(node, new FaultInjectingStore(node.cluster));
      await using _first = await startAgent(node, { environment, controller });
      await until(async () => (await node.mirror.get(NAMESPACE_KEY)) !== undefined);
    }
    const cluster = new FaultInjectingStore(node.cluster);
    cluster.disconnect('no route to host');
    const environment = environmentOf(node, cluster);
    await using running = await startAgent(node, { environment, controller });
    const history = async () =>
      ((await running.get('/controller/event-history')).body as { Description: string }[]).map(
        ({ Description }) => Description.split('\n')[0],
      );
    assert.deepEqual(await history(), ['Database Resync (Local DB)']);
    assert.equal((await running.get('/liveness')).status, 200);
    const reply = await addPod(running, {
      name: 'web',
      containerId: 'a'.repeat(64),
      netns: '/run/netns/web',
    });
    assert.equal(replyAddress(reply), '10.1.1.2', 'pods are wired meanwhile');

    const refused = await post(running.localSocket, '/controller/resync');
    assert.equal(refused.status, 409);
    assert.match(refused.text, /no route to host/);

    await node.cluster.put(NAMESPACE_KEY, '{"name":"default","label":[{"key":"a","value":"b"}]}');
    cluster.reconnect();
    await until(async () => (await running.get('/readiness')).status === 200);
    await until(async () => (await history()).includes('Database Resync (Remote DB)'));
    await until(async () => (await node.mirror.get(NAMESPACE_KEY))?.includes('label') === true);
    assert.equal((await post(running.localSocket, '/controller/resync')).status, 200);
  });
});

describe('an agent whose first read of the database takes long', () => {
  it('is not ended by the deadline of the startup while it reads', async () => {
    const node = makeNode();
    await node.cluster.put(NAMESPACE_KEY, '{"name":"default"}');
    const cluster = new FaultInjectingStore(node.cluster);
    const answered = Promise.withResolvers<void>();
    const list = cluster.list.bind(cluster);
    cluster.list = async (prefix) => {
      await answered.promise;
      return await list(prefix);
    };
    const controller = { delayLocalResync: '50ms', startupResyncDeadline: '200ms' };
    const environment = environmentOf(node, cluster);
    await using running = await startAgent(node, { environment, controller, waits: true });
    await new Promise((resolve) => setTimeout(resolve, 700));
    assert.equal((await running.get('/liveness')).status, 200);
    assert.equal(running.agent.controller.resyncCount, 0);
    answered.resolve();
    await until(async () => (await running.get('/readiness')).status === 200);
  });

  it('is ended by it when no database answers, and there is no mirror', async () => {
    const node = makeNode();
    const cluster = new FaultInjectingStore(node.cluster);
    cluster.disconnect('no route to host');
    const controller = { delayLocalResync: '50ms', startupResyncDeadline: '200ms' };
    const environment = environmentOf(node, cluster);
    await using running = await startAgent(node, { environment, controller, waits: true });
    await until(async () => (await running.get('/liveness')).status === 500);
  });
});

describe('an agent that cannot open its mirror', () => {
  it('says so in readiness and not in liveness, and still detects another agent with its label', async () => {
    const node = makeNode();
    const environment = {
      ...environmentOf(node, new FaultInjectingStore(node.cluster)),
      mirror: undefined,
      mirrorFault: 'No space left on device',
    };
    await using running = await startAgent(node, { environment });
    const { status, body } = await running.get('/readiness');
    const { PluginStatus } = body as { PluginStatus: Record<string, { error?: string }> };
    assert.equal(status, 500);
    assert.equal(PluginStatus['mirror']?.error, 'No space left on device');
    assert.ok(PluginStatus['label'], 'etcd is shared, whatever happened to its copy');
    assert.equal((await running.get('/liveness')).status, 200);
  });
});

describe('the databases of an agent', () => {
  it('ignore a file of the Go agent, and log its name', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stores-'));
    const file = join(folder, 'bolt.db');
    await writeFile(file, 'bolt');
    await writeFile(join(folder, 'bolt.conf'), `db-path: ${file}\n`);
    await writeFile(join(folder, 'mirror.conf'), `db-path: ${join(folder, 'copy')}\n`);
    await writeFile(join(folder, 'etcd.conf'), 'endpoints: [127.0.0.1:1]\n');
    const logged: Record<string, unknown>[] = [];
    const loggers = new Loggers({ 'default-level': 'info', loggers: [] }, undefined, {
      write: (line: string) => void logged.push(JSON.parse(line)),
    });
    const settings = readSettings(parseFlags(['--config-dir', folder], {}), {});
    const parts = { clock: systemClock, random: systemRandom, loggers };
    const environment = await openEnvironment(settings, parts);
    assert.equal(environment.local.name, `level ${file}.level`);
    assert.equal(environment.mirror?.name, `level ${join(folder, 'copy')}`);
    await environment.close();
    assert.equal(await readFile(file, 'utf8'), 'bolt');
    assert.deepEqual(
      logged.filter(({ file: named }) => named === file).map(({ level }) => level),
      ['warn'],
      'one warning',
    );
    await rm(folder, { recursive: true });
  });

  it('discard a damaged mirror with a warning, and keep the local store', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stores-'));
    await writeFile(join(folder, 'bolt.conf'), `db-path: ${join(folder, 'store')}\n`);
    await writeFile(join(folder, 'etcd.conf'), 'endpoints: [127.0.0.1:1]\n');
    const local = await LevelStore.open({ folder: join(folder, 'store') });
    await local.put('local/ipam/last', '10.1.1.7');
    await local.close();
    const mirrorFolder = join(folder, 'store.mirror');
    const before = await LevelStore.open({ folder: mirrorFolder });
    await before.put(NAMESPACE_KEY, '{}');
    await before.close();
    await writeFile(join(mirrorFolder, 'CURRENT'), 'rubbish');
    const logged: Record<string, unknown>[] = [];
    const loggers = new Loggers({ 'default-level': 'info', loggers: [] }, undefined, {
      write: (line: string) => void logged.push(JSON.parse(line)),
    });
    const settings = readSettings(parseFlags(['--config-dir', folder], {}), {});
    const parts = { clock: systemClock, random: systemRandom, loggers };
    const environment = await openEnvironment(settings, parts);
    assert.equal(await environment.local.get('local/ipam/last'), '10.1.1.7');
    assert.ok(
      logged.some(({ folder: named, level }) => named === mirrorFolder && level === 'warn'),
    );
    await environment.mirror?.put('still', 'usable');
    await environment.close();
    await rm(folder, { recursive: true });
  });

  it('do without a mirror whose folder cannot be opened, with an error in the log', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stores-'));
    await writeFile(join(folder, 'bolt.conf'), `db-path: ${join(folder, 'store')}\n`);
    await writeFile(join(folder, 'etcd.conf'), 'endpoints: [127.0.0.1:1]\n');
    await writeFile(join(folder, 'store.mirror'), 'a file in place of the folder');
    const logged: Record<string, unknown>[] = [];
    const loggers = new Loggers({ 'default-level': 'info', loggers: [] }, undefined, {
      write: (line: string) => void logged.push(JSON.parse(line)),
    });
    const settings = readSettings(parseFlags(['--config-dir', folder], {}), {});
    const parts = { clock: systemClock, random: systemRandom, loggers };
    const environment = await openEnvironment(settings, parts);
    assert.equal(environment.mirror, undefined);
    assert.equal(
      logged.find(({ level }) => level === 'error')?.['folder'],
      `${folder}/store.mirror`,
    );
    await environment.local.put('still', 'usable');
    await environment.close();
    await rm(folder, { recursive: true });
  });
});
