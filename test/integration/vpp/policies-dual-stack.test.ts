/**
 * Network policies between pods with addresses of both families, with either one first, on two real nodes. Each policy is one
 * object that is asked in both families.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Policy } from '#kubernetes/models/policy.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { DeepInput } from '#models/model.ts';
import { block, clusterPolicy, pod, pods } from '#test/plugins/policy/policy-objects.ts';
import { only, writePolicy } from '#test/policies/compliance/policy-suite.ts';
import { assertReachability } from '#test/policies/compliance/reachability.ts';
import { a, b, both, c, host1, host2, x, y } from '#test/services/compliance/records.ts';
import type { Place, Target } from '#test/services/service-cluster.ts';
import { selectCases } from '#test/support/part-of-cases.ts';
import { withoutNodes, withoutVhostNet } from '#test/support/requirements.ts';
import { interfaceTo } from '../support/datagram-flood.ts';
import {
  continued,
  extension,
  fragment,
  ipv6Packet,
  type Part,
  receive,
  syn,
  udpBytes,
} from '../support/ipv6-packets.ts';
import { RealServiceCluster, type RunningFlow } from '../support/service-cluster.ts';

const PORT = 8080;
const OTHER_PORT = 9090;
/** Leaves in three fragments. */
const LARGE = 3000;
/** A connection over which nothing returned for so long is cut. */
const SILENCE_MS = 3000;
const CRAFTED = 40;

const d: Place = { pod: 'd' };
const families = [4, 6] as const;

type Pair = readonly [from: Place, to: Place, port?: number];

const portList = (port: number) => both.map((protocol) => ({ protocol, port: { number: port } }));

const suite = (first: 4 | 6) =>
  describe(`policies on real nodes with both families, IPv${first} first`, {
    skip: withoutNodes() || withoutVhostNet(),
    timeout: 400_000,
  }, () => {
    let cluster: RealServiceCluster;

    before(async () => {
      cluster = await RealServiceCluster.start({ family: first, isDual: true });
      for (const [name, node] of [
        ...(['a', 'b', 'c', 'd'] as const).map((name) => [name, 'node1'] as const),
        ...(['x', 'y'] as const).map((name) => [name, 'node2'] as const),
      ])
        await cluster.startPod(
          name,
          node,
          [PORT, OTHER_PORT],
          pod({
            name,
            namespace: 'default',
            labels: { app: name },
            ports: [`web TCP ${PORT}`, `web UDP ${PORT}`],
          }),
        );
      for (const at of [host1, host2, 'outside'] as const) await cluster.serve(at, PORT);
    });
    after(() => cluster?.[Symbol.asyncDispose]());

    const check = (reached: readonly Pair[], denied: readonly Pair[]) =>
      assertReachability(
        cluster,
        [
          ...reached.map((pair) => ({ pair, isReached: true })),
          ...denied.map((pair) => ({ pair, isReached: false })),
        ].flatMap(({ pair: [from, to, port = PORT], isReached }) =>
          families.map((family) => ({
            from,
            to: { at: { address: cluster.addressOf(to, family) }, port },
            isReached,
          })),
        ),
      );
    const under = async (policy: DeepInput<Policy>, run: () => Promise<void>) => {
      await writePolicy(cluster, 'case', policy);
      try {
        await run();
      } finally {
        await writePolicy(cluster, 'case', undefined);
      }
    };
    const to = (place: Place, family: 4 | 6): Target => ({
      address: cluster.addressOf(place, family),
      port: PORT,
      protocol: 'TCP',
    });

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

    it('limit who reaches a pod, by labels and ports; its node always does', () =>
      under(
        {
          ...only('b'),
          policy_type: 'INGRESS',
          ingress_rule: [{ from: [pods({ app: 'x' })], port: portList(PORT) }],
        },
        () =>
          check(
            [
              [x, b],
              [host1, b],
              [host1, b, OTHER_PORT],
              [b, a],
              [b, x],
              [b, host1],
              [b, 'outside'],
            ],
            [
              [x, b, OTHER_PORT],
              [a, b],
              [y, b],
              [host2, b],
              ['outside', b],
            ],
          ),
      ));

    it('isolate a pod in both directions; it and its node reach each other', () =>
      under({ ...only('b'), policy_type: 'INGRESS_AND_EGRESS' }, async () => {
        await check(
          [
            [host1, b],
            [b, host1],
            [a, x],
          ],
          [
            [a, b],
            [x, b],
            ['outside', b],
            [b, a],
            [b, x],
            [b, host2],
            [b, 'outside'],
          ],
        );
        // its neighbor, and its reports to routers of the link, are no matter of policies
        const gateway = cluster.sandboxOf('b');
        await gateway.run('ip', '-6', 'neigh', 'flush', 'dev', 'eth0', 'nud', 'reachable');
        await check([[host1, b]], [[a, b]]);
      }));

    it('limit where a pod sends to', () =>
      under(
        {
          ...only('a'),
          policy_type: 'EGRESS',
          egress_rule: [{ to: [pods({ app: 'x' })], port: portList(PORT) }],
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
              [a, x, OTHER_PORT],
              [a, b],
              [a, y],
              [a, host2],
              [a, 'outside'],
            ],
          ),
      ));

    it('permit a port by its name', () =>
      under(
        {
          ...only('b'),
          policy_type: 'INGRESS',
          ingress_rule: [
            { port: both.map((protocol) => ({ protocol, port: { type: 'NAME', name: 'web' } })) },
          ],
        },
        () =>
          check(
            [
              [a, b],
              [x, b],
              ['outside', b],
            ],
            [
              [a, b, OTHER_PORT],
              [x, b, OTHER_PORT],
            ],
          ),
      ));

    it('permit blocks of addresses of both families but for exceptions', async () => {
      const outside = families.map((family) => cluster.addressOf('outside', family));
      const permitted = (hasExceptions: boolean) => ({
        ...only('b'),
        policy_type: 'INGRESS' as const,
        ingress_rule: [
          {
            from: [
              block('192.168.16.0/24', ...(hasExceptions ? [`${outside[0]}/32`] : [])),
              block('fd16::/64', ...(hasExceptions ? [`${outside[1]}/128`] : [])),
            ],
          },
        ],
      });
      await under(permitted(false), () => check([['outside', b]], [[a, b]]));
      await under(permitted(true), () => check([], [['outside', b]]));
      // a block of one family permits nothing in the other one
      const ipv4Only = { ...permitted(false), ingress_rule: [{ from: [block('0.0.0.0/0')] }] };
      await under(ipv4Only, async () => {
        for (const family of families)
          await assertReachability(
            cluster,
            (['outside', a, x] as const).map((from) => ({
              from,
              to: { at: { address: cluster.addressOf(b, family) }, port: PORT },
              isReached: family === 4,
            })),
          );
      });
    });

    it('end connections that they forbid, and no other, in both families', async (t) => {
      const flows = new Map<string, RunningFlow>();
      for (const family of families)
        for (const [name, from, at] of [
          ['a to b', a, b],
          ['x to b', x, b],
          ['b to a', b, a],
          ['b to x', b, x],
        ] as const)
          flows.set(`${name}, IPv${family}`, await cluster.openFlow(from, to(at, family)));
      const cutBy = async (change: () => Promise<void>) => {
        await change();
        await sleep(SILENCE_MS);
        const cut: string[] = [];
        for (const [name, flow] of flows) {
          const { lastReturnedAt } = await flow.report();
          if (Date.now() - lastReturnedAt >= SILENCE_MS) cut.push(name);
        }
        t.diagnostic(`cut: ${cut.join('; ')}`);
        for (const name of cut) flows.delete(name);
        return cut.sort();
      };
      const inBoth = (...names: string[]) =>
        names.flatMap((name) => families.map((family) => `${name}, IPv${family}`)).sort();
      const ingress = {
        ...only('b'),
        policy_type: 'INGRESS' as const,
        ingress_rule: [{ from: [pods({ app: 'x' })] }],
      };
      assert.deepEqual(await cutBy(() => writePolicy(cluster, 'case', ingress)), inBoth('a to b'));
      const none = { ...ingress, ingress_rule: [] };
      assert.deepEqual(await cutBy(() => writePolicy(cluster, 'case', none)), inBoth('x to b'));
      const egress = {
        ...only('b'),
        policy_type: 'EGRESS' as const,
        egress_rule: [{ to: [pods({ app: 'a' })] }],
      };
      assert.deepEqual(await cutBy(() => writePolicy(cluster, 'more', egress)), inBoth('b to x'));
      const nothing = { ...egress, egress_rule: [] };
      assert.deepEqual(await cutBy(() => writePolicy(cluster, 'more', nothing)), inBoth('b to a'));
      for (const name of ['case', 'more']) await writePolicy(cluster, name, undefined);
      // a connection that was opened while the pod sent by a table ends as well
      await writePolicy(cluster, 'more', egress);
      for (const family of families)
        flows.set(`b to a, IPv${family}`, await cluster.openFlow(b, to(a, family)));
      const remote = { ...egress, egress_rule: [{ to: [pods({ app: 'x' })] }] };
      assert.deepEqual(await cutBy(() => writePolicy(cluster, 'more', remote)), inBoth('b to a'));
      for (const family of families)
        flows.set(`b to x, IPv${family}`, await cluster.openFlow(b, to(x, family)));
      assert.deepEqual(await cutBy(() => writePolicy(cluster, 'more', egress)), inBoth('b to x'));
      await writePolicy(cluster, 'more', undefined);
    });

    it('let fragments reach an isolated pod from whom they permit', () =>
      under(
        {
          ...only('b'),
          policy_type: 'INGRESS',
          ingress_rule: [{ from: [pods({ app: 'x' })], port: portList(PORT) }],
        },
        async () => {
          for (const family of families) {
            const large = async (from: Place, at: Place) => {
              const target = { ...to(at, family), protocol: 'UDP', bytes: LARGE } as const;
              return (await cluster.connect(from, target))[0]?.result === 'answered';
            };
            assert.ok(await large(x, b), `IPv${family}: to the isolated pod`);
            assert.ok(await large(b, a), `IPv${family}: to and from another pod`);
            assert.ok(!(await large(a, b)), `IPv${family}: from one that is denied`);
          }
        },
      ));

    /** How many of the packets of pod d reach the kernel of pod c, which gets no others. */
    const arriving = async (...parts: readonly Part[]) => {
      const packet = ipv6Packet([cluster.addressOf(d, 6), cluster.addressOf(c, 6)], ...parts);
      const vpp = cluster.vppOf('node1');
      const received = async () => {
        const counters = await cluster.sandboxOf('c').run('cat', '/proc/net/snmp6');
        return Number(/^Ip6InReceives\s+(\d+)/m.exec(counters)?.[1]);
      };
      const before = await received();
      await receive(vpp, await interfaceTo(vpp, cluster.addressOf(d, 6)), packet, CRAFTED);
      return (await received()) - before;
    };
    const passes = async (...parts: readonly Part[]) => (await arriving(...parts)) >= CRAFTED;
    const opening = (port: number) => syn([cluster.addressOf(d, 6), cluster.addressOf(c, 6)], port);
    const chains: Readonly<Record<string, () => readonly Part[]>> = {
      none: () => [],
      'hop-by-hop options': () => [extension('hopByHop')],
      'destination options': () => [extension('destination')],
      'a routing header': () => [extension('routing')],
      'a fragment header': () => [fragment(0, false)],
      'all of them': () => [
        extension('hopByHop'),
        extension('destination'),
        extension('routing'),
        fragment(0, false),
        extension('destination'),
      ],
    };
    /** First fragments that end before the header with the ports. */
    const unreadable = () => [
      [fragment(0, true), continued(6)],
      [fragment(0, true), extension('destination'), continued(6)],
      [extension('hopByHop'), fragment(0, true), extension('destination'), continued(17)],
    ];

    const compareChains = async () => {
      for (const [name, chain] of Object.entries(chains)) {
        assert.ok(await passes(...chain(), opening(PORT)), `permitted, behind ${name}`);
        const denied = await arriving(...chain(), opening(OTHER_PORT));
        assert.ok(denied < CRAFTED, `denied, behind ${name}: ${denied}`);
      }
      for (const [at, parts] of unreadable().entries()) {
        const found = await arriving(...parts);
        assert.ok(found < CRAFTED, `unreadable ${at}: ${found}`);
      }
    };

    it('compare ports behind extension headers of IPv6, where they permit some', () =>
      under(
        {
          ...only('c'),
          policy_type: 'INGRESS',
          ingress_rule: [{ port: portList(PORT) }],
        },
        compareChains,
      ));

    it('compare ports behind extension headers of IPv6, where they deny some', async () => {
      const write = (value: object | undefined) =>
        cluster.write({ resource: resources.clusternetworkpolicy, name: 'admin', value });
      await write(
        clusterPolicy({
          tier: 'ADMIN',
          subject: { namespaces: {} },
          ingress: [
            {
              action: 'DENY',
              peer: [{ networks: { cidr: ['0.0.0.0/0', '::/0'] } }],
              port: both.map((protocol) => ({ protocol, first: OTHER_PORT, last: OTHER_PORT })),
            },
          ],
        }),
      );
      try {
        await check([[d, c]], [[d, c, OTHER_PORT]]);
        await compareChains();
        const drift = await cluster.realNode('node1').agent.drift();
        assert.deepEqual(drift, []);
      } finally {
        await write(undefined);
      }
    });

    it('let no unreadable packet in as the reply to a fragment of the isolated pod', () =>
      under({ ...only('c'), policy_type: 'INGRESS' }, async () => {
        const vpp = cluster.vppOf('node1');
        const ends = [cluster.addressOf(c, 6), cluster.addressOf(d, 6)] as const;
        const name = await interfaceTo(vpp, ends[0]);
        for (const part of [udpBytes(64), { ...udpBytes(64), number: 6 }])
          await receive(vpp, name, ipv6Packet(ends, fragment(64, false), part));
        for (const parts of unreadable()) await receive(vpp, name, ipv6Packet(ends, ...parts));
        for (const [at, parts] of unreadable().entries()) {
          const found = await arriving(...parts);
          assert.ok(found < CRAFTED, `unreadable ${at}: ${found}`);
        }
      }));

    it('leave no drift on either node', async () => {
      for (const node of ['node1', 'node2'] as const)
        assert.deepEqual(await cluster.realNode(node).agent.drift(), []);
    });
  });

for (const declare of selectCases(families.map((first) => () => suite(first)))) declare();
