/** Objects of several namespaces whose record has one key. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resources } from '#kubernetes/resources/resources.ts';
import { PREFIX, ReflectedCluster, type TestObject } from './support/reflected-cluster.ts';

type Make = (namespace: string, content: string, created?: string) => TestObject;

function makerOf(kind: string, apiVersion: string, field: string): Make {
  return (namespace, content, created = '2026-01-01T00:00:00Z') => ({
    kind,
    apiVersion,
    metadata: { name: 'n', namespace, creationTimestamp: created },
    spec: { type: 'L2', [field]: content },
  });
}

const kinds = [
  {
    resource: resources.nodeconfig,
    make: makerOf('NodeConfig', 'nodeconfig.contiv.vpp/v1', 'gateway'),
  },
  {
    resource: resources.customnetwork,
    make: makerOf('CustomNetwork', 'contivpp.io/v1', 'subnetCIDR'),
  },
  {
    resource: resources['external-interface'],
    make: makerOf('ExternalInterface', 'contivpp.io/v1', 'network'),
  },
  {
    resource: resources.servicefunctionchain,
    make: makerOf('ServiceFunctionChain', 'contivpp.io/v1', 'network'),
  },
];

for (const { resource, make } of kinds) {
  const key = PREFIX + resource.key('n', 'any');
  const { kind } = make('a', '');
  const setUp = async (...objects: readonly TestObject[]) => {
    const cluster = new ReflectedCluster();
    cluster.put(...objects);
    const record = async () => {
      await cluster.settle();
      return (await cluster.database.get(key)) ?? '';
    };
    return { cluster, record };
  };

  describe(`the record of ${kind} objects with one name`, () => {
    it('is that of the oldest, whatever the others do', async () => {
      const older = make('b', '10.0.0.2', '2026-01-01T00:00:00Z');
      const { cluster, record } = await setUp(make('a', '10.0.0.1', '2026-02-01T00:00:00Z'));
      assert.match(await record(), /10\.0\.0\.1/);
      cluster.put(older);
      assert.match(await record(), /10\.0\.0\.2/);
      cluster.put(make('a', '10.0.0.3', '2026-02-01T00:00:00Z'));
      cluster.list(kind);
      assert.match(await record(), /10\.0\.0\.2/);
      cluster.delete(kind, 'n', 'a');
      assert.match(await record(), /10\.0\.0\.2/);
    });

    it('is that of the first namespace if they are equally old', async () => {
      const { cluster, record } = await setUp(make('b', '10.0.0.2'), make('a', '10.0.0.1'));
      cluster.put(make('b', '10.0.0.3'));
      assert.match(await record(), /10\.0\.0\.1/);
    });

    it('is that of the other when the one in use is deleted, seen by an event or by a list', async () => {
      for (const isSeen of [true, false]) {
        const { cluster, record } = await setUp(make('a', '10.0.0.1'), make('b', '10.0.0.2'));
        if (isSeen) cluster.delete(kind, 'n', 'a');
        else cluster.deleteUnseen(kind, 'n', 'a');
        if (!isSeen) cluster.list(kind);
        assert.match(await record(), /10\.0\.0\.2/);
        cluster.delete(kind, 'n', 'b');
        assert.equal(await record(), '');
      }
    });

    it('stays as it is while the one in use cannot be read', async () => {
      const { cluster, record } = await setUp(make('a', '10.0.0.1'), make('b', '10.0.0.2'));
      await cluster.settle();
      cluster.put({ ...make('a', ''), spec: 'none' });
      cluster.put(make('b', '10.0.0.3'));
      assert.match(await record(), /10\.0\.0\.1/);
      cluster.delete(kind, 'n', 'a');
      assert.match(await record(), /10\.0\.0\.3/);
    });
  });
}
