/** `netctl check --nodes` on two nodes, each with its VPP. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { NodeProbe, PathProbe } from '#documents/node-probe.ts';
import { NetctlProgram } from '#test/netctl/support/program.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { type ClusterNode, RealCluster } from '../support/cluster.ts';

interface CheckDocument {
  readonly probes: readonly (Omit<NodeProbe, 'node'> & {
    readonly from: string;
    readonly to: string;
    readonly problem: string | null;
  })[];
}

for (const family of [4, 6] as const)
  describe(`probes between nodes of IPv${family}`, {
    skip: withoutNodes(),
    timeout: 300_000,
  }, () => {
    const program = new NetctlProgram();
    let cluster: RealCluster;
    let one: ClusterNode;
    let two: ClusterNode;

    before(async () => {
      cluster = await RealCluster.create({ nodes: 2, family });
      [one, two] = cluster.nodes as [ClusterNode, ClusterNode];
    });
    after(async () => {
      program[Symbol.dispose]();
      await cluster?.[Symbol.asyncDispose]();
    });

    const check = async () => {
      const servers = cluster.nodes.flatMap(({ node }) => ['--server', node.agent.restSocket]);
      const { code, stdout, stderr } = await program.run(
        'check',
        '--nodes',
        '-o',
        'json',
        ...servers,
      );
      assert.equal(stderr, '');
      return { code, ...(JSON.parse(stdout) as CheckDocument) };
    };

    it('count packets and times in the underlay and the overlay', async () => {
      const { code, probes } = await check();
      assert.deepEqual(
        probes.map(({ from, to }) => [from, to]),
        [
          ['node1', 'node2'],
          ['node2', 'node1'],
        ],
      );
      for (const { paths } of probes) {
        assert.deepEqual(
          paths.map(({ path, sent, received, problem }) => [path, sent, received, problem]),
          [
            ['underlay', 5, 5, null],
            ['overlay', 5, 5, null],
          ],
        );
        for (const { rttMs } of paths) assert.ok(rttMs!.min > 0 && rttMs!.max >= rttMs!.average);
      }
      assert.equal(code, 0);
    });

    it('do not keep VPP from answering the agent', async () => {
      const before = await one.node.agent.history();
      const probing = one.node.agent.get(`/contiv/v1/nodes/${two.name}/probe`);
      for (let at = 0; at < 5; at++) {
        const dump = await one.node.agent.get('/scheduler/dump?descriptor=vpp-interface');
        assert.equal(dump.status, 200);
      }
      const busy = await one.node.agent.get(`/contiv/v1/nodes/${two.name}/probe`);
      assert.equal(busy.status, 503);
      assert.equal((await probing).status, 200);
      assert.equal((await one.node.agent.history()).length, before.length, 'a resync followed');
    });

    it('show a way that loses all packets', async () => {
      await two.node.netns.run('ip', 'link', 'set', 'uplink', 'down');
      const { code, probes } = await check();
      const lost = ({ sent, received, rttMs }: PathProbe) => [sent - received > 0, received, rttMs];
      assert.equal(code, 3);
      assert.deepEqual(probes[0]!.paths.map(lost), [
        [true, 0, null],
        [true, 0, null],
      ]);
    });
  });
