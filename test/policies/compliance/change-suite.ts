/** Changes of policies, of pods and of agents while connections are open. */
import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pod, pods } from '#test/plugins/policy/policy-objects.ts';
import { openFifty } from '#test/services/compliance/open-connections.ts';
import { a, b, both, x, y } from '#test/services/compliance/records.ts';
import type {
  OpenConnections,
  Place,
  ServiceCluster,
  StartServiceCluster,
} from '#test/services/service-cluster.ts';
import { only, startPods, writePolicy } from './policy-suite.ts';
import { assertReachability } from './reachability.ts';

const CONNECTIONS = 50;

export function policyChangeSuite(start: StartServiceCluster): void {
  describe('changes of network policies', { timeout: 400_000 }, () => {
    let cluster: ServiceCluster;

    before(async () => {
      cluster = await start();
      await startPods(cluster);
    });
    after(() => cluster?.[Symbol.asyncDispose]());

    const open = (from: Place, to: Place) => openFifty(cluster, from, cluster.addressOf(to), 8080);
    const end = async (...all: readonly OpenConnections[]) => {
      for (const one of all) await one.close();
      await writePolicy(cluster, 'case', undefined);
    };
    const brokenOf = (...all: readonly OpenConnections[]) =>
      Promise.all(all.map(async (one) => (await one.broken()).length));

    it('end the connections that they forbid, and no other', async (t: TestContext) => {
      const forbidden = [await open(a, b), await open(x, b)];
      const permitted = [await open(b, a), await open(b, x), await open(y, b), await open(a, x)];
      const begin = performance.now();
      await writePolicy(cluster, 'case', {
        ...only('b'),
        policy_type: 'INGRESS',
        ingress_rule: [{ from: [pods({ app: 'y' })] }],
      });
      t.diagnostic(`configured ${Math.ceil(performance.now() - begin)} ms after it was written`);
      const ended = await brokenOf(...forbidden);
      assert.deepEqual(ended, [CONNECTIONS, CONNECTIONS], 'forbidden ones');
      assert.deepEqual(await brokenOf(...permitted), [0, 0, 0, 0], 'permitted ones');
      await end(...forbidden, ...permitted);
    });

    it('end the connections of a pod to which it may not send any more', async () => {
      const forbidden = [await open(a, b), await open(a, y)];
      const permitted = [await open(a, x), await open(b, a), await open(y, a), await open(b, y)];
      await writePolicy(cluster, 'case', {
        ...only('a'),
        policy_type: 'EGRESS',
        egress_rule: [{ to: [pods({ app: 'x' })] }],
      });
      assert.deepEqual(await brokenOf(...forbidden), [CONNECTIONS, CONNECTIONS], 'forbidden ones');
      assert.deepEqual(await brokenOf(...permitted), [0, 0, 0, 0], 'permitted ones');
      await end(...forbidden, ...permitted);
    });

    it('hold while agents end and start, and no permitted connection breaks', async () => {
      await writePolicy(cluster, 'case', {
        ...only('b'),
        policy_type: 'INGRESS_AND_EGRESS',
        ingress_rule: [{ from: [pods({ app: 'a' }), pods({ app: 'x' })] }],
        egress_rule: [{ to: [pods({ app: 'y' })] }],
      });
      const permitted = [await open(a, b), await open(x, b), await open(b, y)];
      const denied = (
        [
          [y, b],
          [b, x],
          [b, a],
        ] as const
      ).map(([from, at]) => ({ from, to: { at, port: 8080 }, isReached: false }));
      await assertReachability(cluster, denied);
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        for (const node of ['node1', 'node2'] as const) await cluster.restartAgent(node, signal);
        assert.deepEqual(await brokenOf(...permitted), [0, 0, 0], signal);
        await assertReachability(cluster, denied);
      }
      await end(...permitted);
    });

    it('written while an agent is down are configured when it starts', async () => {
      const forbidden = await open(x, b);
      const permitted = await open(b, x);
      await cluster.restartAgent('node1', 'SIGKILL', () =>
        writePolicy(cluster, 'case', { ...only('b'), policy_type: 'INGRESS' }),
      );
      assert.deepEqual(await brokenOf(forbidden, permitted), [CONNECTIONS, 0]);
      await end(forbidden, permitted);
    });

    it('concern a new pod from its first packet, also before its record is known', async () => {
      await writePolicy(cluster, 'case', { policy_type: 'INGRESS' });
      const record = pod({ name: 'late', namespace: 'default', labels: { app: 'late' } });
      let isStarted = false;
      const late: Place = { pod: 'late' };
      const started = cluster.startPod('late', 'node1', [8080], record).then(() => {
        isStarted = true;
      });
      const address = nextAddress(cluster.addressOf(b));
      const answers: string[] = [];
      while (!isStarted) {
        const found = await Promise.all(
          [a, x].flatMap((from) =>
            both.map((protocol) => cluster.connect(from, { address, port: 8080, protocol })),
          ),
        );
        answers.push(...found.flat().map(({ result }) => result));
        await nextTurn();
      }
      await started;
      assert.equal(cluster.addressOf(late), address, 'the address that was asked');
      assert.ok(!answers.includes('answered'), `${answers.length} answers`);
      await assertReachability(
        cluster,
        [a, x].map((from) => ({ from, to: { at: late, port: 8080 }, isReached: false })),
      );
      await assertReachability(cluster, [
        { from: late, to: { at: x, port: 8080 }, isReached: false },
        { from: { host: 'node1' }, to: { at: late, port: 8080 }, isReached: true },
      ]);
      await end();
      await cluster.endPod('late');
    });
  });
}

/** Addresses of pods are given in their order. */
function nextAddress(last: string): string {
  return last.replace(/\d+$/, (number) => String(Number(number) + 1));
}
