/** Source NAT of IPv6 by cnat: pods with unique local addresses and a machine outside that has no route to them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { withoutNodes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { type ClusterNode, RealCluster } from '../support/cluster.ts';
import { networks } from '../support/networks.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { EchoServer, echo, isReachable, ping, transfer } from '../support/traffic.ts';

/** Of the edge link; no interface has it. */
const NEIGHBOR = 'fdfe:feed:c0de::a';
/** Behind the gateway. */
const REMOTE = '2001:db8::1';

for (const isDual of [false, true])
  describe(`source NAT of IPv6, ${isDual ? 'both families' : 'IPv6 alone'}`, {
    skip: withoutNodes(),
    timeout: 300_000,
  }, () => {
    let cluster: RealCluster;
    let node: ClusterNode;
    let web: Sandbox;
    let near: Sandbox;
    let far: Sandbox;

    before(async () => {
      cluster = await RealCluster.create({
        nodes: 2,
        family: 6,
        isDual,
        gateway: networks[6].outside.address,
        before: async ({ outside }) => {
          await outside.run('ip', 'addr', 'add', `${REMOTE}/128`, 'dev', 'lo', 'nodad');
        },
      });
      const [one, two] = cluster.nodes;
      node = one!;
      [web, near, far] = [
        await one!.node.pod('web'),
        await one!.node.pod('near'),
        await two!.node.pod('far'),
      ];
      for (const { id } of cluster.nodes)
        await cluster.outside.run('ip', '-6', 'route', 'del', networks[6].pods(id));
    });
    after(() => cluster?.[Symbol.asyncDispose]());

    const sessions = () => node.node.vpp.cli('show cnat session');

    it('lets pods out with the address of the node, by TCP, UDP and ICMP', async () => {
      // outside has no route to pods: only what is translated gets an answer
      for (const pod of [web, near, far]) await ping(pod, REMOTE);
      const { sent, received } = await transfer(web, cluster.outside, 4);
      assert.deepEqual(received, sent);
      await using _server = await EchoServer.start(cluster.outside);
      await echo(web, networks[6].outside.address);
    });

    it('gives the connections of two pods from one port two ports', async () => {
      const { outside } = cluster;
      const server = `${networks[6].outside.address}`;
      const listen = outside.run(
        'timeout',
        '8',
        'socat',
        '-u',
        'TCP6-LISTEN:7070,reuseaddr,fork',
        'SYSTEM:echo $SOCAT_PEERADDR $SOCAT_PEERPORT >&2',
      );
      const from = (pod: Sandbox, text: string) =>
        pod.run(
          'sh',
          '-c',
          `(echo ${text}; sleep 2) | socat -u - TCP6:[${server}]:7070,sourceport=40001,reuseaddr`,
        );
      await until('the server listens', async () =>
        (await outside.run('ss', '-ltn')).includes(':7070'),
      );
      await Promise.all([from(web, 'web'), from(near, 'near')]);
      await listen.catch(() => undefined);
      assert.match(await node.node.vpp.cli('show errors'), /port allocation retries/);
    });

    it('brings an error of ICMP back to the pod', async () => {
      const text = await web
        .run('sh', '-c', `echo x | socat -t 2 - UDP6:[${networks[6].outside.address}]:9`)
        .then(
          () => '',
          (thrown: unknown) => String(thrown),
        );
      assert.match(text, /refused/i);
    });

    it('lets a pod reach the own address of its node, its host and pods of other nodes with its own address', async () => {
      const before = await sessionsOfSource();
      await ping(web, node.nodeIp);
      await ping(web, node.host.address);
      await ping(web, far.address);
      assert.equal(await sessionsOfSource(), before);
    });

    /** Packets that the node at the edge link has translated. */
    const sessionsOfSource = async (): Promise<number> => {
      const runtime = await node.node.vpp.cli('show runtime');
      return Number(/cnat-snat-ip6-return\s+\S+\s+\d+\s+(\d+)/.exec(runtime)?.[1] ?? 0);
    };

    it('leads no packet round', async () => {
      await cluster.outside.run(
        'ip',
        '-6',
        'route',
        'replace',
        `${NEIGHBOR}/128`,
        'via',
        node.nodeIp,
      );
      await node.host.run('ip', '-6', 'route', 'replace', `${NEIGHBOR}/128`, 'dev', 'vpp1');
      for (const from of [cluster.outside, node.host, web])
        await assert.rejects(from.run('ping', '-c', '1', '-W', '1', NEIGHBOR));
    });

    it('has it again after VPP was restarted, and an agent that restarts changes nothing', async () => {
      assert.deepEqual(await node.node.agent.drift(), []);
      const { vpp } = node.node;
      await vpp.kill();
      await vpp.start();
      await until('a pod leaves again', () => isReachable(web, REMOTE), 60_000);
      assert.deepEqual(await node.node.agent.drift(), []);
      assert.match(await sessions(), /active elements/);
    });
  });
