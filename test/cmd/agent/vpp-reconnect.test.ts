import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configuration } from './configuration.ts';
import { addPod, makeNode, type Node, type RunningAgent, startAgent, until } from './harness.ts';

const web = { name: 'web', containerId: 'a'.repeat(64), netns: '/run/netns/web' };

/** VPP ends at its n-th message from now on and is there again at once, empty. */
function loseVppAt(node: Node, at: number): { passed: boolean } {
  const point = { passed: false };
  let count = 0;
  node.vpp.onRequest = (when) => {
    if (when !== 'before' || ++count < at) return;
    node.vpp.onRequest = undefined;
    point.passed = true;
    node.vpp.crash();
    void node.vpp.start();
    throw new Error('VPP crashed');
  };
  return point;
}

async function stateOf(node: Node, namespaces: readonly string[]): Promise<string> {
  return JSON.stringify(await configuration(node, namespaces));
}

async function restart(node: Node): Promise<void> {
  node.vpp.crash();
  await node.vpp.start();
}

/** Until the node is as wanted; at no time the agent may say that it is lost. */
async function untilHealed(
  running: RunningAgent,
  namespaces: readonly string[],
  wanted: string,
  where: string,
): Promise<void> {
  await until(async () => {
    assert.equal((await running.get('/liveness')).status, 200, where);
    const isReady = (await running.get('/readiness')).status === 200;
    return isReady && (await stateOf(running.node, namespaces)) === wanted;
  });
}

describe('VPP that is lost', () => {
  it('again while it is healed is healed at its next return', async () => {
    const node = makeNode();
    await using running = await startAgent(node);
    await addPod(running, web);
    const wanted = await stateOf(node, [web.netns]);
    // Each loss makes the client wait longer before it connects again, so few points must do.
    for (const at of [1, 12, 30]) {
      const point = loseVppAt(node, at);
      await restart(node);
      await untilHealed(running, [web.netns], wanted, `lost at message ${at}`);
      assert.ok(point.passed);
    }
  });

  it('during the startup resync is configured at its return', async () => {
    const whole = makeNode();
    await using other = await startAgent(whole);
    await until(async () => (await other.get('/readiness')).status === 200);
    const wanted = await stateOf(whole, []);
    for (let at = 1; ; at += 6) {
      const node = makeNode();
      const point = loseVppAt(node, at);
      await using running = await startAgent(node);
      await untilHealed(running, [], wanted, `lost at message ${at}`);
      if (!point.passed) break;
    }
  });
});
