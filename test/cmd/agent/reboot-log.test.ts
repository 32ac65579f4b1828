/** The log about pods that have ended while no agent ran: kubelet deletes or adds them again, so nothing is at fault. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addPod, makeNode, type Node, startAgent, until } from './harness.ts';
import { web } from './test-pods.ts';

/** Log of the next agent up to its readiness. */
async function linesAfter(change: (node: Node) => Promise<void> | void) {
  const node = makeNode();
  {
    await using running = await startAgent(node);
    assert.equal((await addPod(running, web)).result, 0);
  }
  await change(node);
  await using running = await startAgent(node);
  await until(async () => (await running.get('/readiness')).status === 200);
  return running.logged;
}

const isFault = ({ level }: Record<string, unknown>) => level === 'error' || level === 'warn';

describe('the startup resync', () => {
  it('is no error after a reboot, which ends all pods', async () => {
    const lines = await linesAfter(async ({ linux, vpp }) => {
      linux.reboot();
      vpp.crash();
      await vpp.start();
    });
    assert.deepEqual(lines.filter(isFault), []);
  });

  it('is no error when the namespace of a pod was deleted, and names it', async () => {
    const lines = await linesAfter(({ linux }) => linux.removeNamespace(web.netns));
    assert.deepEqual(lines.filter(isFault), []);
    const resync = lines.find(({ msg }) => msg === 'event processed');
    assert.match(JSON.stringify(resync?.['waiting']), new RegExp(web.netns));
  });
});
