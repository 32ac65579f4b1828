import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { namespaceModel } from '#kubernetes/models/namespace.ts';
import { nodeModel } from '#kubernetes/models/node.ts';
import { resourceList } from '#kubernetes/resources/resources.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { DbWatcherMetrics } from '#plugins/dbwatcher/metrics.ts';
import {
  AGENT_PREFIX,
  advance,
  interfaceKey,
  interfaceText,
  KSR,
  MIRROR_MS,
  namespaceKey,
  namespaceText,
  nodeKey,
  nodeText,
  settle,
  startedWatcher,
  WHOLE_RESYNC,
  watcherHarness,
} from './watcher-harness.ts';

describe('dbwatcher at start', () => {
  it('sends everything in one resync: canonical values by resource and key', async () => {
    const { loop, watcher, states } = await startedWatcher();
    assert.deepEqual(loop.take(), [WHOLE_RESYNC]);
    assert.deepEqual(states, [['ok', undefined]]);
    const { connected, source, watching, error } = watcher.status;
    assert.deepEqual([connected, source, watching, error], [true, 'store', true, undefined]);
    await watcher.close();
  });

  it('has a table for every resource, and values as the models make them', async () => {
    const { loop, watcher } = await startedWatcher();
    const { kubeState, externalConfig, local } = loop.resyncs[0]!;
    assert.equal(local, false);
    assert.deepEqual(
      Object.keys(kubeState),
      resourceList.map(({ keyword }) => keyword),
    );
    assert.deepEqual(kubeState['namespace'], {
      'k8s/namespace/default': namespaceModel.canonical({ name: 'default' }),
      'k8s/namespace/kube-system': namespaceModel.canonical({ name: 'kube-system' }),
    });
    assert.deepEqual(externalConfig, {
      'config/vpp/v2/interfaces/loop1': vppInterfaceModel.canonical({
        name: 'loop1',
        type: 'SOFTWARE_LOOPBACK',
      }),
    });
    await watcher.close();
  });

  it('sends a resync for an empty database too', async () => {
    const { loop, watcher } = watcherHarness();
    watcher.start();
    await settle();
    assert.deepEqual(loop.take(), ['resync remote: ']);
    await watcher.close();
  });

  it('leaves alone what is not its own', async () => {
    const { loop, database, watcher } = watcherHarness();
    await database.put(`${KSR}k8s/unheard/of`, 'x');
    await database.put(`${KSR}status`, 'x');
    await database.put(`${AGENT_PREFIX}check/status/v1/agent`, 'x');
    await database.put('/vnf-agent/node2/config/vpp/v2/interfaces/a', 'x');
    await database.put('/vnf-agent/node11/config/vpp/v2/interfaces/a', 'x');
    watcher.start();
    await settle();
    await database.put(`${KSR}k8s/unheard/of`, 'y');
    await database.delete(`${AGENT_PREFIX}check/status/v1/agent`);
    await settle();
    assert.deepEqual(loop.take(), ['resync remote: ']);
    assert.equal(watcher.status.broken.size, 0);
    await watcher.close();
  });
});

describe('dbwatcher and a change', () => {
  it('sends each with the value before, which is what was sent last', async () => {
    const { loop, database, watcher } = await startedWatcher();
    loop.take();
    await database.put(namespaceKey('a'), namespaceText('a', '1'));
    await settle();
    await database.put(namespaceKey('a'), namespaceText('a', '2'));
    await settle();
    await database.delete(namespaceKey('a'));
    await database.put(namespaceKey('default'), namespaceText('default', '3'));
    await settle();
    assert.deepEqual(loop.take(), [
      'namespace k8s/namespace/a: - -> 1',
      'namespace k8s/namespace/a: 1 -> 2',
      'namespace k8s/namespace/a: 2 -> -',
      'namespace k8s/namespace/default: plain -> 3',
    ]);
    await watcher.close();
  });

  it('sends external configuration without the prefix of the agent, one key an event', async () => {
    const { loop, database, watcher } = await startedWatcher();
    loop.take();
    await database.putAll(
      new Map([
        [interfaceKey('loop1'), undefined],
        [interfaceKey('loop2'), interfaceText('loop2', 1400)],
      ]),
    );
    await settle();
    assert.deepEqual(loop.take(), [
      'db config/vpp/v2/interfaces/loop1: -',
      'db config/vpp/v2/interfaces/loop2: 1400',
    ]);
    await watcher.close();
  });

  it('says nothing of what is known already or means the same', async () => {
    const made = await startedWatcher();
    const { loop, database, watcher, mirror } = made;
    loop.take();
    await database.put(namespaceKey('default'), namespaceText('default'));
    const spaced = '{ "name" : "default", "label": [] }';
    await database.put(namespaceKey('default'), spaced);
    await database.delete(namespaceKey('never'));
    await advance(made, MIRROR_MS);
    assert.deepEqual(loop.take(), []);
    assert.equal((await mirror())[namespaceKey('default')], spaced);
    await watcher.close();
  });
});

describe('dbwatcher and an invalid value', () => {
  const broken = ['{', '[]', '"x"', '{"name":1}', '{"unheard":"of"}', 'null', ''];

  it('skips it at start, with a warning that names the key, and shows it', async () => {
    for (const text of broken) {
      const { loop, database, watcher, warnings, states } = watcherHarness();
      await database.put(namespaceKey('a'), namespaceText('a'));
      await database.put(nodeKey('b'), text);
      await database.put(interfaceKey('c'), text);
      watcher.start();
      await settle();
      assert.deepEqual(loop.take(), ['resync remote: k8s/namespace/a'], text);
      const keys = [nodeKey('b'), interfaceKey('c')];
      assert.deepEqual([...watcher.status.broken.keys()], keys);
      assert.deepEqual(
        warnings.map(({ key }) => key),
        keys,
      );
      assert.deepEqual(states, [['ok', undefined]]);
      await watcher.close();
    }
  });

  it('keeps the last one that made sense, and takes that for the one before', async () => {
    const made = await startedWatcher();
    const { loop, database, watcher, mirror } = made;
    const key = nodeKey('n1');
    await database.put(key, nodeText('n1'));
    await advance(made, MIRROR_MS);
    assert.equal((await mirror())[key], nodeText('n1'));
    loop.take();
    for (const text of broken) await database.put(key, text);
    await advance(made, MIRROR_MS);
    assert.deepEqual(loop.take(), []);
    assert.deepEqual([...watcher.status.broken.keys()], [key]);
    assert.equal((await mirror())[key], nodeText('n1'), 'the mirror keeps it too');
    await database.put(key, nodeText('n1', '2'));
    await settle();
    assert.deepEqual(loop.take(), ['node k8s/node/n1: plain -> 2']);
    assert.equal(watcher.status.broken.size, 0);
    await database.put(key, '{');
    await database.delete(key);
    await advance(made, MIRROR_MS);
    assert.deepEqual(loop.take(), ['node k8s/node/n1: 2 -> -']);
    assert.equal(watcher.status.broken.size, 0);
    assert.equal((await mirror())[key], undefined);
    await watcher.close();
  });

  it('skips external configuration with the name of another key', async () => {
    const { loop, database, watcher, warnings } = await startedWatcher();
    loop.take();
    await database.put(interfaceKey('loop1'), interfaceText('loop2', 1400));
    await settle();
    assert.deepEqual(loop.take(), []);
    assert.deepEqual([...watcher.status.broken.keys()], [interfaceKey('loop1')]);
    assert.match(JSON.stringify(warnings), /the key of this value is .+loop2/);
    await watcher.close();
  });

  it('skips external configuration whose key spells its address in another way', async () => {
    const { loop, database, watcher, warnings } = await startedWatcher();
    loop.take();
    const text = JSON.stringify({ interface: 'loop1', ip_address: 'FD00::1' });
    await database.put(`${AGENT_PREFIX}config/vpp/v2/arp/loop1/FD00::1`, text);
    await settle();
    assert.deepEqual(loop.take(), []);
    assert.match(JSON.stringify(warnings), /the key of this value is .+arp\/loop1\/fd00::1/);
    await database.put(`${AGENT_PREFIX}config/vpp/v2/arp/loop1/fd00::1`, text);
    await settle();
    assert.equal(loop.take().length, 1);
    await watcher.close();
  });

  it('never acts on external configuration as a deletion [R6.10]', async () => {
    const { loop, database, watcher } = await startedWatcher();
    loop.take();
    await database.put(interfaceKey('loop1'), '{"name":"loop1","type":"NO_SUCH_TYPE"}');
    await database.put(`${AGENT_PREFIX}config/no/such/model`, '{}');
    await settle();
    assert.deepEqual(loop.take(), []);
    assert.deepEqual(
      [...watcher.status.broken.keys()],
      [interfaceKey('loop1'), `${AGENT_PREFIX}config/no/such/model`],
    );
    await watcher.close();
  });

  it('is forgotten when it comes and goes without ever making sense', async () => {
    const { loop, database, watcher } = await startedWatcher();
    loop.take();
    await database.put(nodeKey('a'), '{');
    await settle();
    assert.equal(watcher.status.broken.size, 1);
    await database.delete(nodeKey('a'));
    await settle();
    assert.deepEqual(loop.take(), []);
    assert.equal(watcher.status.broken.size, 0);
    await watcher.close();
  });

  it('keeps its last valid value in the next resync', async () => {
    const { loop, database, watcher } = await startedWatcher();
    await database.put(nodeKey('n1'), nodeText('n1'));
    await settle();
    await database.put(nodeKey('n1'), '{');
    await settle();
    loop.take();
    await watcher.requestResync({ acceptEmpty: false });
    await settle();
    assert.deepEqual(loop.take(), [
      'resync remote: config/vpp/v2/interfaces/loop1 k8s/namespace/default k8s/namespace/kube-system k8s/node/n1',
    ]);
    await watcher.close();
  });
});

describe('metrics of the dbwatcher', () => {
  it('show what readiness and operators want to know', async () => {
    const { database, cluster, local, watcher, clock } = await startedWatcher();
    const registry = new Registry();
    new DbWatcherMetrics(registry, () => watcher.status);
    const shown = async () =>
      Object.fromEntries(
        (await registry.getMetricsAsJSON()).map(({ name, values }) => [
          name.replace('contiv_dbwatcher_', ''),
          values[0]?.value,
        ]),
      );
    const well = {
      connected: 1,
      watching: 1,
      broken_values: 0,
      unknown_fields: 0,
      retained_values: 0,
      pending_changes: 0,
      resyncs_total: 1,
      missed_changes_total: 0,
      config_status_failures_total: 0,
      mirror_behind: 0,
    };
    assert.deepEqual(await shown(), well);
    local.beforeWrite = () => {
      throw new Error('no space left');
    };
    await database.put(namespaceKey('a'), namespaceText('a'));
    await database.put(namespaceKey('b'), '{');
    await settle();
    cluster.disconnect();
    await clock.advance(3_000);
    assert.deepEqual(await shown(), {
      ...well,
      connected: 0,
      watching: 0,
      broken_values: 1,
      mirror_behind: 1,
    });
    await watcher.close();
  });
});

describe('a value that becomes invalid', () => {
  it('keeps its last valid value also after a restart', async () => {
    const bench = await startedWatcher();
    const valid = { 'k8s/node/n1': nodeModel.canonical({ name: 'n1' }) };
    await bench.database.put(nodeKey('n1'), nodeText('n1'));
    await settle();
    await bench.database.put(nodeKey('n1'), 'junk');
    await settle();
    await bench.watcher.close();
    const next = bench.restart();
    next.watcher.start();
    await settle();
    await settle();
    assert.deepEqual(next.loop.resyncs.at(-1)!.kubeState['node'], valid);
    await next.watcher.close();
    const third = bench.restart();
    third.watcher.start();
    await settle();
    await settle();
    assert.deepEqual(third.loop.resyncs.at(-1)!.kubeState['node'], valid);
    await third.watcher.close();
  });
});
