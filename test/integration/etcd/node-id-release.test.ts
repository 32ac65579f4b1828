/** The ID of a removed node is freed on a real etcd, while agents check and nodes join at the same time. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { IdReleaser } from '#plugins/nodesync/id-releaser.ts';
import { TestNode } from '#test/plugins/test-node.ts';
import { withoutEtcd } from '#test/support/requirements.ts';
import { EtcdServer } from '../support/etcd-server.ts';

const PREFIX = '/vnf-agent/contiv-ksr/';
const ROUNDS = 10;

describe('the IDs of removed nodes on etcd', { skip: withoutEtcd(), timeout: 200_000 }, () => {
  it(`are allocated again in ${ROUNDS} rounds in which a node leaves and another one or itself joins`, async () => {
    const etcd = await EtcdServer.start();
    const stores = Array.from({ length: 4 }, () => etcd.store());
    const [reflector] = stores as [(typeof stores)[number]];
    const clock = new ManualClock();
    const reflect = (name: string) =>
      reflector.put(`${PREFIX}k8s/node/${name}`, JSON.stringify({ name }));
    const ids = async (): Promise<Record<string, number>> => {
      const { entries } = await reflector.list(`${PREFIX}allocatedIDs/`);
      const records = entries.map(({ value }) => JSON.parse(value) as { name: string; id: number });
      return Object.fromEntries(records.map(({ name, id }) => [name, id]));
    };
    /** Replies of etcd take real time. */
    const advance = async (minutes: number) => {
      for (let minute = 0; minute < minutes; minute++) {
        await clock.advance(60_000);
        await systemClock.sleep(15);
      }
    };
    const releasers: IdReleaser[] = [];
    try {
      for (const [at, name] of ['node-1', 'node-2'].entries()) {
        await reflect(name);
        const cluster = stores[at + 1]!;
        const { error } = await new TestNode({ name, cluster }).resync();
        assert.equal(error, undefined);
        const releaser = new IdReleaser({
          nodeName: name,
          cluster,
          clock,
          random: seededRandom(at),
          log: silentLogger,
        });
        releaser.start();
        releasers.push(releaser);
      }
      let leaving = new TestNode({ name: 'node-3', cluster: stores[3]! });
      await reflect('node-3');
      assert.equal((await leaving.resync()).error, undefined);
      for (let round = 0; round < ROUNDS; round++) {
        await advance(4);
        await reflector.delete(`${PREFIX}k8s/node/${leaving.name}`);
        // the node or another one starts anywhere between the mark and the deletion, or after it
        const freeing = advance(15 + 2 * round);
        await systemClock.sleep(15 * (13 + 2 * round));
        const name = round % 2 === 0 ? leaving.name : `other-${round}`;
        const joining =
          name === leaving.name ? leaving.restart() : new TestNode({ name, cluster: stores[3]! });
        await reflect(name);
        assert.equal((await joining.resync()).error, undefined);
        const found = await ids();
        assert.equal(found[name], joining.nodes.thisNode().id, `round ${round}`);
        await freeing;
        await advance(40);
        const id = joining.nodes.thisNode().id;
        assert.deepEqual(await ids(), { 'node-1': 1, 'node-2': 2, [name]: id }, `round ${round}`);
        assert.ok(id <= 4, `round ${round}: ID ${id}`);
        leaving = joining;
      }
    } finally {
      for (const releaser of releasers) await releaser.close();
      for (const store of stores) await store.close();
      await etcd.close();
    }
  });
});
