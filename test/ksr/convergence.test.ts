/** Random sequences of changes and faults: the datastore always becomes equal to the API's state. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { StoreUnavailableError } from '#datastore/api.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { endpoints, node, pod, policy, slice } from './support/objects.ts';
import { PREFIX, ReflectedCluster, type TestObject } from './support/reflected-cluster.ts';

const FILE = 'test/ksr/convergence.test.ts';

type Step = (cluster: ReflectedCluster) => void | Promise<void>;

const names = fc.constantFrom('p1', 'p2', 'p3', 'p4', 'p5');
const labels = fc.constantFrom('a', 'b', 'c');
const ips = fc.constantFrom('10.1.1.2', '10.1.1.3', '10.1.2.4');
const services = fc.constantFrom('s1', 's2');

const objects: fc.Arbitrary<TestObject> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(names, labels).map(([name, label]) => pod(name, label)) },
  { weight: 2, arbitrary: fc.tuple(names, labels).map(([name, label]) => policy(name, label)) },
  { weight: 1, arbitrary: names.map(node) },
  { weight: 2, arbitrary: fc.tuple(services, ips).map(([name, ip]) => endpoints(name, ip)) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(names, services, ips)
      .map(([name, service, ip]) => slice(name, service, ip)),
  },
);

const kinds = fc.constantFrom('Pod', 'NetworkPolicy', 'Node', 'Endpoints', 'EndpointSlice');

/** The object of a kind at a position, if it has one there. */
function pick(cluster: ReflectedCluster, kind: string, at: number): TestObject | undefined {
  const found = cluster.objects(kind);
  return found[at % Math.max(1, found.length)];
}

function named(text: string, step: Step): Step {
  return Object.assign(step, { toString: () => text, [fc.toStringMethod]: () => text });
}

const changes: fc.Arbitrary<Step> = fc.oneof(
  objects.map((one) => named(`put ${JSON.stringify(one)}`, (cluster) => cluster.put(one))),
  fc.tuple(kinds, fc.nat(4)).map(([kind, at]) =>
    named(`delete ${kind} ${at}`, (cluster) => {
      const found = pick(cluster, kind, at);
      if (found) cluster.delete(kind, found.metadata.name, found.metadata.namespace);
    }),
  ),
  objects.map((one) =>
    named(`put ${JSON.stringify(one)} unseen, list`, (cluster) => {
      cluster.putUnseen(one);
      cluster.list(one.kind);
    }),
  ),
  fc.tuple(kinds, fc.nat(4)).map(([kind, at]) =>
    named(`delete ${kind} ${at} unseen, broken list, list`, (cluster) => {
      const found = pick(cluster, kind, at);
      if (found) cluster.deleteUnseen(kind, found.metadata.name, found.metadata.namespace);
      cluster.list(kind, 1, 2);
      cluster.list(kind, 2);
    }),
  ),
);

const time: fc.Arbitrary<Step> = fc
  .constantFrom(0, 1, 150, 1_500, 20_000)
  .map((ms) => named(`advance ${ms}`, (cluster) => cluster.clock.advance(ms)));

const otherKeys = fc.oneof(
  names.map((name) => `${PREFIX}k8s/pod/${name}/namespace/default`),
  services.map((name) => `${PREFIX}k8s/endpoints/${name}/namespace/default`),
  fc.constant(`${PREFIX}k8s/policy/unexpected/namespace/default`),
);

const faults: fc.Arbitrary<Step> = fc.oneof(
  fc.constant(named('restart', (cluster) => cluster.restart())),
  kinds.map((kind) => named(`interrupt ${kind}`, (cluster) => cluster.interrupt(kind))),
  kinds.map((kind) => named(`resume ${kind}`, (cluster) => cluster.resume(kind))),
  kinds.map((kind) => named(`${kind} is absent`, (cluster) => cluster.absent(kind))),
  fc.constant(named('lease expires', (cluster) => cluster.election.expire())),
  fc.constant(named('outage', ({ instance }) => instance.store.disconnect())),
  fc.constant(named('end of outage', ({ instance }) => instance.store.reconnect())),
  fc.constant(named('lost watches', ({ instance }) => instance.store.loseWatches())),
  fc.constant(named('compaction', ({ database }) => database.compact())),
  fc.constant(named('wipe', ({ database }) => database.wipe())),
  fc.constant(named('late changes', ({ instance }) => instance.store.withholdChanges())),
  fc.constant(named('end of late changes', ({ instance }) => instance.store.releaseChanges())),
  fc.nat(2).map((count) =>
    named(`${count} lost replies`, ({ instance }) => {
      let left = count;
      instance.store.afterWrite = () => {
        if (left-- > 0) throw new StoreUnavailableError('lost reply');
      };
    }),
  ),
  fc.constantFrom(1, 100, 400).map((ms) =>
    named(`replies after ${ms} ms`, ({ instance, clock }) => {
      instance.store.afterWrite = () => clock.sleep(ms);
    }),
  ),
  fc.constantFrom(1, 100, 400).map((ms) =>
    named(`pages every ${ms} ms`, ({ instance, clock }) => {
      instance.store.afterPage = () => clock.sleep(ms);
    }),
  ),
  fc
    .tuple(otherKeys, fc.constantFrom('{}', undefined))
    .map(([key, value]) =>
      named(`${key} = ${value} by another program`, ({ database }) =>
        value === undefined ? void database.delete(key) : database.put(key, value),
      ),
    ),
);

const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: changes },
    { weight: 3, arbitrary: time },
    { weight: 3, arbitrary: faults },
  ),
  { maxLength: 40, size: 'max' },
);

describe('the records in the datastore', () => {
  it('become equal to the state of the API, and then nothing is written', async () => {
    await checkProperty(
      { file: FILE, name: 'become equal to the state of the API, and then nothing is written' },
      1_000,
      fc.asyncProperty(steps, async (all) => {
        const cluster = new ReflectedCluster();
        for (const step of all) await step(cluster);
        const { store } = cluster.instance;
        store.afterWrite = undefined;
        store.afterPage = undefined;
        store.reconnect();
        store.releaseChanges();
        for (const { kind } of cluster.instance.reflector.watches)
          if (cluster.absentKinds.has(kind.kind)) cluster.list(kind.kind);
          else cluster.resume(kind.kind);
        await cluster.settle();
        assert.deepEqual(sorted(await cluster.records()), sorted(cluster.expected()));

        cluster.writes.length = 0;
        cluster.listAll();
        for (const kind of ['Pod', 'Endpoints', 'EndpointSlice'])
          for (const object of cluster.objects(kind)) cluster.put(object);
        store.loseWatches();
        await cluster.settle();
        assert.deepEqual(cluster.writes, []);
        cluster.kill();
      }),
    );
  });
});

function sorted(records: ReadonlyMap<string, string>): [string, string][] {
  return [...records].sort(([a], [b]) => (a < b ? -1 : 1));
}
