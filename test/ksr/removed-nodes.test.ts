import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { closedPods } from '#kubernetes/models/closed-pod.ts';
import { type Pod, podModel } from '#kubernetes/models/pod.ts';
import { hasReleaseMark, withoutReleaseMark } from '#kubernetes/models/release-mark.ts';
import { endpoints, node, pod } from './support/objects.ts';
import { PREFIX, ReflectedCluster } from './support/reflected-cluster.ts';

const MINUTE = 60_000;
const idKey = (id: number): string => `${PREFIX}allocatedIDs/${id}`;

describe('the data of nodes in the datastore', () => {
  let cluster: ReflectedCluster;
  beforeEach(async () => {
    cluster = new ReflectedCluster();
    cluster.put(node('n1'), node('n2'));
    for (const [id, name] of [
      [1, 'n1'],
      [2, 'n2'],
      [3, 'outside'],
    ] as const) {
      await cluster.database.put(idKey(id), JSON.stringify({ id, name }));
      await cluster.database.put(`/vnf-agent/${name}/config/a`, '{}');
      await cluster.database.put(`/vnf-agent/${name}/check/status/v1/agent`, '{}');
    }
    await cluster.settle(5 * MINUTE);
  });

  const keysOf = async (name: string, id: number): Promise<string[]> => {
    const { entries } = await cluster.database.list(`/vnf-agent/${name}/`);
    const record = await cluster.database.get(idKey(id));
    return [...entries.map(({ key }) => key), ...(record === undefined ? [] : [idKey(id)])];
  };

  it('is deleted in two steps when the node has left the cluster, and that of others is not', async () => {
    cluster.delete('Node', 'n1');
    await cluster.settle(9 * MINUTE);
    assert.equal((await keysOf('n1', 1)).length, 3);
    assert.ok(!hasReleaseMark((await cluster.database.get(idKey(1)))!));
    await cluster.settle(4 * MINUTE);
    assert.ok(hasReleaseMark((await cluster.database.get(idKey(1)))!));
    await cluster.settle(15 * MINUTE);
    assert.deepEqual(await keysOf('n1', 1), []);
    assert.equal((await keysOf('n2', 2)).length, 3);
    assert.equal((await keysOf('outside', 3)).length, 3);
    assert.deepEqual([...(await cluster.records()).keys()], [`${PREFIX}k8s/node/n2`]);
  });

  it('includes its records beside those of all nodes', async () => {
    const keysOfAll = (name: string) => [
      `/vnf-agent/contiv-nodeconfig/${name}`,
      `/vnf-agent/contiv-policyenforcement/${name}`,
    ];
    const other = 'n1-0';
    for (const key of [...keysOfAll('n1'), ...keysOfAll(other)])
      await cluster.database.put(key, '{}');
    cluster.delete('Node', 'n1');
    await cluster.settle(30 * MINUTE);
    for (const key of keysOfAll('n1')) assert.equal(await cluster.database.get(key), undefined);
    for (const key of keysOfAll(other)) assert.equal(await cluster.database.get(key), '{}');
  });

  it('stays when the node returns in the meantime', async () => {
    cluster.delete('Node', 'n1');
    await cluster.settle(13 * MINUTE);
    cluster.put(node('n1'));
    await cluster.settle(30 * MINUTE);
    assert.equal((await keysOf('n1', 1)).length, 3);
    assert.ok(!hasReleaseMark((await cluster.database.get(idKey(1)))!));
  });

  it('stays when the node returns while the data is being listed', async () => {
    const { store } = cluster.instance;
    const pages = store.pages.bind(store);
    store.pages = async (prefix, onPage) => {
      const revision = await pages(prefix, onPage);
      if (prefix === '/vnf-agent/n1/') cluster.put(node('n1'));
      return revision;
    };
    cluster.delete('Node', 'n1');
    await cluster.settle(30 * MINUTE);
    const { entries } = await cluster.database.list('/vnf-agent/n1/');
    assert.equal(entries.length, 2);
  });

  it('stays while an agent of the node runs, which removes the mark', async () => {
    cluster.delete('Node', 'n1');
    for (let minutes = 0; minutes < 60; minutes++) {
      await cluster.settle(MINUTE);
      const text = (await cluster.database.get(idKey(1)))!;
      if (minutes % 3 === 0) await cluster.database.put(idKey(1), withoutReleaseMark(text));
    }
    assert.equal((await keysOf('n1', 1)).length, 3);
  });

  it('is deleted for a node that left while contiv-ksr was down', async () => {
    cluster.kill();
    cluster.deleteUnseen('Node', 'n1');
    cluster.restart();
    await cluster.settle(30 * MINUTE);
    assert.deepEqual(await keysOf('n1', 1), []);
  });

  it('stays while the API server is unavailable', async () => {
    cluster.delete('Node', 'n1');
    await cluster.settle(5 * MINUTE);
    cluster.interrupt('Node');
    cluster.putUnseen(node('n1'));
    await cluster.settle(60 * MINUTE);
    cluster.resume('Node');
    await cluster.settle(60 * MINUTE);
    assert.equal((await keysOf('n1', 1)).length, 3);
  });

  it('stays while the list of nodes is incomplete', async () => {
    cluster.kill();
    cluster.deleteUnseen('Node', 'n1');
    cluster.restart({ lists: false });
    cluster.list('Node', 1, 1);
    await cluster.settle(60 * MINUTE);
    assert.equal((await keysOf('n1', 1)).length, 3);
    assert.ok((await cluster.records()).has(`${PREFIX}k8s/node/n1`));
  });
});

describe('records of a kind that is not installed', () => {
  it('stay, and are compared when it is', async () => {
    const cluster = new ReflectedCluster();
    cluster.put(pod('p1'));
    await cluster.settle();
    cluster.restart({ lists: false });
    cluster.absent('Pod');
    cluster.deleteUnseen('Pod', 'p1', 'default');
    await cluster.settle(60 * MINUTE);
    assert.equal((await cluster.records()).size, 1);
    cluster.listAll();
    await cluster.settle();
    assert.equal((await cluster.records()).size, 0);
  });
});

describe('an object that cannot be read', () => {
  it('keeps its record, and others are written', async () => {
    const cluster = new ReflectedCluster();
    cluster.put(endpoints('e1'), endpoints('e2'));
    await cluster.settle();
    const before = await cluster.records();
    cluster.put({ ...endpoints('e1'), subsets: 'none' }, endpoints('e2', '10.1.1.9'));
    await cluster.settle();
    cluster.listAll();
    await cluster.settle();
    const key = (name: string): string => `${PREFIX}k8s/endpoints/${name}/namespace/default`;
    const after = await cluster.records();
    assert.equal(after.get(key('e1')), before.get(key('e1')));
    assert.notEqual(after.get(key('e2')), before.get(key('e2')));
  });
});

describe('a pod that cannot be read', () => {
  it('has a record without its labels, and is counted, until it can be read', async () => {
    const cluster = new ReflectedCluster();
    cluster.put(pod('p1'));
    await cluster.settle();
    const record = async (): Promise<Pod> => {
      await cluster.settle();
      const records = await cluster.records();
      return podModel.parse(JSON.parse(records.get(`${PREFIX}k8s/pod/p1/namespace/default`)!));
    };
    const { table } = cluster.instance.reflector.records.find(({ name }) => name === 'Pod')!;
    cluster.put(pod('p1', 'b', { spec: { containers: 'none' } }));
    assert.ok(closedPods.unreadableParts(await record()));
    assert.deepEqual([(await record()).labels, table.unreadable], [{}, 1]);
    cluster.put(pod('p1', 'b'));
    assert.deepEqual([(await record()).labels, table.unreadable], [{ app: 'b' }, 0]);
  });

  it('is one whose record is over the limit of etcd', async () => {
    const cluster = new ReflectedCluster();
    const labels = { app: 'x'.repeat(800_000) };
    cluster.put({ ...pod('large'), metadata: { name: 'large', namespace: 'default', labels } });
    await cluster.settle();
    const [text] = [...(await cluster.records()).values()];
    assert.match(closedPods.unreadableParts(podModel.parse(JSON.parse(text!))) ?? '', /etcd takes/);
  });
});

describe('a record over the limit of etcd', () => {
  it('is not written, and others are', async () => {
    const cluster = new ReflectedCluster();
    const port = { name: 'x'.repeat(1_600_000), port: 80, protocol: 'TCP' };
    const subsets = [{ addresses: [{ ip: '10.1.1.2' }], ports: [port] }];
    cluster.put({ ...endpoints('large'), subsets }, endpoints('e1'));
    await cluster.settle();
    assert.equal((await cluster.records()).size, 1);
    const state = cluster.instance.leader.kinds().find(({ name }) => name === 'Endpoints');
    assert.deepEqual([state?.tooLarge, state?.state], [1, 'synchronized']);
  });
});
