/** Network policies between pods with addresses of IPv6, on two real nodes. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Policy } from '#kubernetes/models/policy.ts';
import type { DeepInput } from '#models/model.ts';
import { block, pod, pods } from '#test/plugins/policy/policy-objects.ts';
import { only, writePolicy } from '#test/policies/compliance/policy-suite.ts';
import { assertReachability } from '#test/policies/compliance/reachability.ts';
import { a, b, both, host1, host2, x, y } from '#test/services/compliance/records.ts';
import type { Place } from '#test/services/service-cluster.ts';
import { withoutNodes, withoutVhostNet } from '#test/support/requirements.ts';
import { RealServiceCluster } from '../support/service-cluster.ts';

const PORT = 8080;
const OTHER_PORT = 9090;
/** Leaves in three fragments. */
const LARGE = 3000;

type Pair = readonly [from: Place, to: Place, port?: number];

describe('policies on real nodes with IPv6', {
  skip: withoutNodes() || withoutVhostNet(),
  timeout: 240_000,
}, () => {
  let cluster: RealServiceCluster;

  before(async () => {
    cluster = await RealServiceCluster.start({ family: 6 });
    for (const [name, node] of Object.entries({ a: 'node1', b: 'node1', x: 'node2', y: 'node2' }))
      await cluster.startPod(
        name,
        node as 'node1' | 'node2',
        [PORT, OTHER_PORT],
        pod({ name, namespace: 'default', labels: { app: name } }),
      );
    for (const at of [host1, host2, 'outside'] as const) await cluster.serve(at, PORT);
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  const check = (reached: readonly Pair[], denied: readonly Pair[]) => {
    const expectations = (pairs: readonly Pair[], isReached: boolean) =>
      pairs.map(([from, at, port = PORT]) => ({ from, to: { at, port }, isReached }));
    return assertReachability(cluster, [
      ...expectations(reached, true),
      ...expectations(denied, false),
    ]);
  };
  const under = async (policy: DeepInput<Policy>, run: () => Promise<void>) => {
    await writePolicy(cluster, 'case', policy);
    try {
      await run();
    } finally {
      await writePolicy(cluster, 'case', undefined);
    }
  };
  const sendsLarge = async (from: Place, to: Place) => {
    const target = { address: cluster.addressOf(to), port: PORT, protocol: 'UDP' } as const;
    const [answer] = await cluster.connect(from, { ...target, bytes: LARGE });
    return answer?.result === 'answered';
  };

  it('without one, everything is reached', () =>
    check(
      [
        [a, b],
        [a, x],
        [host1, a],
        [host2, a],
        [a, host1],
        [a, host2],
        ['outside', a],
        [a, 'outside'],
      ],
      [],
    ));

  it('limit who reaches a pod, by labels and ports', () =>
    under(
      {
        ...only('b'),
        policy_type: 'INGRESS',
        ingress_rule: [
          {
            from: [pods({ app: 'x' })],
            port: both.map((protocol) => ({ protocol, port: { number: PORT } })),
          },
        ],
      },
      async () => {
        await check(
          [
            [x, b],
            [host1, b],
            [b, a],
            [b, x],
            [b, 'outside'],
          ],
          [
            [x, b, OTHER_PORT],
            [a, b],
            [y, b],
            [host2, b],
            ['outside', b],
          ],
        );
        assert.ok(await sendsLarge(x, b), 'fragments to the isolated pod');
        assert.ok(await sendsLarge(b, a), 'fragments to and from another pod');
      },
    ));

  it('permit blocks of addresses but for exceptions', async () => {
    const outside = cluster.addressOf('outside');
    const permitted = (...except: string[]) => ({
      ...only('b'),
      policy_type: 'INGRESS' as const,
      ingress_rule: [{ from: [block(`${outside}/64`, ...except)] }],
    });
    await under(permitted(), () => check([['outside', b]], [[a, b]]));
    await under(permitted(`${outside}/128`), () => check([], [['outside', b]]));
  });

  it('limit where a pod sends to', () =>
    under(
      {
        ...only('a'),
        policy_type: 'EGRESS',
        egress_rule: [{ to: [pods({ app: 'x' })] }],
      },
      () =>
        check(
          [
            [a, x],
            [a, host1],
            [b, a],
            [y, a],
            ['outside', a],
          ],
          [
            [a, b],
            [a, y],
            [a, host2],
            [a, 'outside'],
          ],
        ),
    ));
});
