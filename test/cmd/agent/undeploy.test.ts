import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configuration } from './configuration.ts';
import { addPod, makeNode, prepareAgent, startAgent } from './harness.ts';
import { web } from './test-pods.ts';

for (const useTAPInterfaces of [true, false]) {
  const options = { contiv: { useTAPInterfaces } };

  describe(`undeploy (${useTAPInterfaces ? 'TAP' : 'VETH'})`, () => {
    it('removes the configuration of a stopped agent, and no unmanaged objects', async () => {
      const node = makeNode();
      await node.linux.createVeth(
        { namespace: undefined, name: 'theirs' },
        { namespace: undefined, name: 'theirs2' },
      );
      const before = await configuration(node);
      const running = await startAgent(node, options);
      assert.equal((await addPod(running, web)).error, '');
      await running.stop();
      const left = await configuration(node, [web.netns]);
      assert.ok(left.remembered.length > 0);
      assert.notDeepEqual(left.vpp, before.vpp);

      await prepareAgent(node, options).agent.undeploy();
      const { vpp, linux, remembered } = await configuration(node, [web.netns]);
      assert.deepEqual(remembered, []);
      assert.deepEqual(linux['host'], before.linux['host']);
      assert.ok(!linux[web.netns]?.some((line) => line.includes('eth0')), 'pod interface');
      // Neighbor aging is a setting of VPP that always has a value.
      assert.deepEqual({ ...vpp, neighborAging: 0 }, { ...before.vpp, neighborAging: 0 });
    });

    it('reports what it cannot remove, and a second call continues from there', async () => {
      const node = makeNode();
      const running = await startAgent(node, options);
      await addPod(running, web);
      await running.stop();
      const stubborn = ({ name }: { name: string }) => name === 'ip_route_add_del';
      node.vpp.faults.add(1, { refuse: -1 }, stubborn);
      await assert.rejects(prepareAgent(node, options).agent.undeploy(), {
        code: 'CV_UNDEPLOY_INCOMPLETE',
        message: /ip_route_add_del: VPP answered -1/,
      });
      assert.notDeepEqual((await configuration(node)).remembered, []);
      await prepareAgent(node, options).agent.undeploy();
      assert.deepEqual((await configuration(node)).remembered, []);
    });
  });
}
