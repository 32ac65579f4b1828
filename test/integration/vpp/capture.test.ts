/** `netctl capture` on two nodes, each with its VPP. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parsePcap } from '#infra/pcap/pcap.ts';
import { hostOf, matches, type PacketFilter } from '#netctl/capture/packet-filter.ts';
import { NetctlProgram } from '#test/netctl/support/program.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { type ClusterNode, RealCluster } from '../support/cluster.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { ping } from '../support/traffic.ts';

describe('captures', { skip: withoutNodes(), timeout: 300_000 }, () => {
  const program = new NetctlProgram();
  const folder = mkdtempSync(join(tmpdir(), 'capture-'));
  let cluster: RealCluster;
  let one: ClusterNode;
  let web: Sandbox;
  let far: Sandbox;

  before(async () => {
    cluster = await RealCluster.create({ nodes: 2 });
    const [first, second] = cluster.nodes as [ClusterNode, ClusterNode];
    one = first;
    [web, far] = [await first.node.pod('web'), await second.node.pod('far')];
    await ping(web, far.address);
  });
  after(async () => {
    program[Symbol.dispose]();
    rmSync(folder, { recursive: true });
    await cluster?.[Symbol.asyncDispose]();
  });

  const capture = (...args: readonly string[]) => {
    const servers = cluster.nodes.flatMap(({ node }) => ['--server', node.agent.restSocket]);
    return program.run('capture', ...args, ...servers);
  };
  const count = (file: string, filter: Partial<PacketFilter>): number => {
    const all = { host: undefined, port: undefined, protocol: undefined, ...filter };
    const { records } = parsePcap(readFileSync(file));
    return records.filter(({ packet }) => matches(packet, all)).length;
  };

  it('have the packets of a pod, and can be read while they continue', async () => {
    const file = join(folder, 'web.pcap');
    const target = `${web.namespace}/web`;
    const ended = capture(target, '-f', file, '--seconds', '6', '--protocol', 'icmp');
    await until('packets are in the file', async () => {
      await ping(web, far.address);
      return existsSync(file) && statSync(file).size > 24;
    });
    assert.ok(count(file, { protocol: 'icmp', host: hostOf(far.address) }) > 0);
    const { code, stderr } = await ended;
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^\d+ packets from node1\.$/m);
    assert.equal(count(file, {}), count(file, { protocol: 'icmp' }));
  });

  it('have packets in the tunnel between nodes, up to a limit', async () => {
    const file = join(folder, 'node.pcap');
    const host = ['--host', web.address, '--packets', '3'];
    const ended = capture('node1', '-f', file, '--seconds', '20', ...host);
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    while (!isOver) await ping(web, far.address);
    const { code, stderr } = await ended;
    assert.equal(code, 0, stderr);
    assert.equal(count(file, {}), 3);
    assert.equal(count(file, { host: hostOf(web.address) }), 3);
  });

  it('leave no capture in VPP', async () => {
    assert.match(await one.node.vpp.cli('pcap trace status'), /disabled/);
  });
});
