/** Three nodes that encrypt for each other: one of them ends, or makes other keys, and the others follow. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { withoutNodes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { RealCluster } from '../support/cluster.ts';
import {
  allEncrypted,
  encryptedPackets,
  keysOf,
  newKeys,
  wireguard,
} from '../support/encryption.ts';
import type { RealNode } from '../support/node.ts';
import { underTraffic } from '../support/pings.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { isReachable, ping } from '../support/traffic.ts';

describe('three nodes with WireGuard', { skip: withoutNodes(), timeout: 590_000 }, () => {
  let cluster: RealCluster;
  let nodes: readonly RealNode[] = [];
  let pods: readonly Sandbox[] = [];
  const third = () => nodes[2]!;

  before(async () => {
    cluster = await RealCluster.create({ nodes: 3, contiv: wireguard });
    nodes = cluster.nodes.map(({ node }) => node);
    await allEncrypted(nodes);
    pods = await Promise.all(nodes.map((node, at) => node.pod(`pod${at + 1}`)));
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  it('send each other nothing but WireGuard', async (t) => {
    for (const node of nodes) {
      const text = await encryptedPackets(node, async () => {
        for (const from of pods)
          for (const to of pods) if (from !== to) await ping(from, to.address);
      });
      t.diagnostic(text);
    }
  });

  it('two of them lose nothing while the VPP of the third is killed and started', async (t) => {
    const [first, second, last] = pods;
    const lost = await underTraffic(t, [first!, second!], async () => {
      await third().vpp.kill();
      await third().vpp.start();
      await until('it is reached again', () => isReachable(first!, last!.address));
    });
    assert.equal(lost, 0);
    await allEncrypted(nodes);
  });

  it('follow one that has lost its file of keys; the two others lose nothing', async (t) => {
    const before = await keysOf(third());
    const [first, second, last] = pods;
    const lost = await underTraffic(t, [first!, second!], async () => {
      await underTraffic(t, [first!, last!], async () => {
        await third().agent.end('SIGKILL');
        rmSync(`${third().agent.storeFolder}.wireguard-keys`);
        await third().agent.start();
        await newKeys(third(), before);
        await allEncrypted(nodes);
      });
    });
    assert.equal(lost, 0);
    for (const from of [first!, second!]) await ping(from, last!.address);
  });

  it('replace their keys by age, all at once, without a lost packet', async (t) => {
    for (const { agent } of nodes) {
      agent.configure({ wireguardKeyLifetime: 1 });
      await agent.end('SIGTERM');
      await agent.start();
    }
    await allEncrypted(nodes);
    const before = await Promise.all(nodes.map(keysOf));
    const lost = await underTraffic(t, pods, async () => {
      await Promise.all(nodes.map((node, at) => newKeys(node, before[at]!)));
    });
    assert.equal(lost, 0);
    await allEncrypted(nodes);
  });
});
