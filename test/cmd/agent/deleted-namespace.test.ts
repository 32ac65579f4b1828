import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addPod, cniRequest, makeNode, startAgent, type TestPod } from './harness.ts';
import { web } from './test-pods.ts';

const db: TestPod = { name: 'db', containerId: 'b'.repeat(64), netns: '/run/netns/db' };

describe('a pod whose namespace was deleted while the agent was stopped', () => {
  for (const useTAPInterfaces of [true, false])
    it(`blocks nothing else (${useTAPInterfaces ? 'TAP' : 'VETH'})`, async () => {
      // a healing resync would run at once and fail, which is fatal
      const options = { contiv: { useTAPInterfaces }, controller: { delayAfterErrorHealing: 0 } };
      const node = makeNode();
      const first = await startAgent(node, options);
      await addPod(first, web);
      await first.stop();
      node.linux.removeNamespace(web.netns);

      await using running = await startAgent(node, options);
      assert.equal((await running.get('/readiness')).status, 200);
      assert.equal((await running.get('/liveness')).status, 200);
      assert.equal((await addPod(running, db)).error, '');
      assert.equal((await running.client.delete(cniRequest(web))).result, 0);
      const { body } = await running.get('/controller/event-history');
      assert.deepEqual(
        (body as { Name: string }[]).map(({ Name }) => Name),
        ['Database Resync', 'Add Pod default/db', 'Delete Pod default/web'],
      );
    });
});
