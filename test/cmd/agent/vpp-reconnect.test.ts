import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configuration } from './configuration.ts';
import { addPod, makeNode, type Node, type RunningAgent, startAgent, until } from './harness.ts';
import { web } from './test-pods.ts';

/** VPP exits at its n-th message from now on and restarts at once, empty. */
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

/** Waits for the desired state; liveness must not fail meanwhile. */
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

describe('a disconnect of VPP', () => {
  it('during healing is healed after the next reconnect', async () => {
    const node = makeNode();
    await using running = await startAgent(node);
    await addPod(running, web);
    const wanted = await stateOf(node, [web.netns]);
    // The client waits longer after each disconnect, so the test uses few points.
    for (const at of [1, 12, 30]) {
      const point = loseVppAt(node, at);
      await restart(node);
      await untilHealed(running, [web.netns], wanted, `lost at message ${at}`);
      assert.ok(point.passed);
    }
  });

  it('during the startup resync is healed after the reconnect', async () => {
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
