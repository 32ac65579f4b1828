/** Encryption is switched on and off in a running cluster, node by node, as docs/encryption.md says. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { withoutNodes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { RealCluster } from '../support/cluster.ts';
import { allEncrypted, encryptedPackets, wireguard } from '../support/encryption.ts';
import type { RealNode } from '../support/node.ts';
import { underTraffic } from '../support/pings.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { ping, transfer } from '../support/traffic.ts';

const mixed = { ...wireguard, wireguardClearText: true };
const vxlan = { nodeToNodeTransport: 'vxlan' };
/** Two streams of 100 pings a second, until the first handshake of both nodes, which is repeated after 5 s. */
const HANDSHAKE_PINGS = 1_200;

describe('two nodes that change their transport', {
  skip: withoutNodes(),
  timeout: 300_000,
}, () => {
  let cluster: RealCluster;
  let nodes: readonly [RealNode, RealNode];
  let pods: readonly [Sandbox, Sandbox];

  before(async () => {
    cluster = await RealCluster.create({ nodes: 2, contiv: vxlan });
    const [one, two] = cluster.nodes;
    nodes = [one!.node, two!.node];
    pods = [await nodes[0].pod('web'), await nodes[1].pod('far')];
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  /** @returns lost pings of both directions */
  function restarted(
    t: Parameters<typeof underTraffic>[0],
    changed: readonly RealNode[],
    contiv: Readonly<Record<string, unknown>>,
    isDone: () => Promise<void>,
  ): Promise<number> {
    return underTraffic(t, pods, async () => {
      for (const { agent } of changed) {
        agent.configure(contiv);
        await agent.end('SIGTERM');
        await agent.start();
      }
      await isDone();
    });
  }

  const reach = async () => {
    const [web, far] = pods;
    await ping(web, far.address);
    const { sent, received } = await transfer(web, far, 1);
    assert.deepEqual(received, sent);
  };

  const inClearText = (node: RealNode) =>
    until('the other node is reached by VXLAN', async () => {
      const { body } = await node.agent.get('/contiv/v1/nodes');
      const { nodes: all } = body as { nodes: readonly { link: { kind: string } | null }[] };
      return all.some(({ link }) => link?.kind === 'tunnel');
    });

  it('the first one encrypts what others can decrypt: nothing yet', async (t) => {
    assert.equal(await restarted(t, [nodes[0]], mixed, () => inClearText(nodes[0])), 0);
    await reach();
  });

  it('the second one encrypts, too, and so do both', async (t) => {
    const lost = await restarted(t, [nodes[1]], mixed, () => allEncrypted(nodes));
    assert.ok(lost < HANDSHAKE_PINGS);
    t.diagnostic(await encryptedPackets(nodes[0], reach));
  });

  it('nothing is lost when clear text is forbidden, and permitted again', async (t) => {
    for (const contiv of [wireguard, mixed])
      assert.equal(await restarted(t, nodes, contiv, () => allEncrypted(nodes)), 0);
  });

  it('the first one goes back to VXLAN, and the second one reaches it so', async (t) => {
    const lost = await restarted(t, [nodes[0]], vxlan, () => inClearText(nodes[1]));
    assert.ok(lost < HANDSHAKE_PINGS);
    await reach();
  });

  it('the second one goes back, too', async (t) => {
    assert.equal(await restarted(t, [nodes[1]], vxlan, () => inClearText(nodes[1])), 0);
    await reach();
    for (const { agent } of nodes) assert.deepEqual(await agent.drift(), []);
  });
});
