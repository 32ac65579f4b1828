/** ADD that the runtime repeats for a pod that was changed past the agent. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addPod, cniRequest, makeNode, type RunningAgent, startAgent } from './harness.ts';
import { testPod, web } from './test-pods.ts';

describe('a repeated ADD', { timeout: 60_000 }, () => {
  for (const useTAPInterfaces of [true, false])
    describe(`with ${useTAPInterfaces ? 'TAP' : 'VETH'}`, () => {
      const options = { contiv: { useTAPInterfaces } };

      it('wires a pod again whose link was deleted', async () => {
        const node = makeNode();
        await using running = await startAgent(node, options);
        const added = await addPod(running, web);
        const before = await node.linux.dump(web.netns);
        await node.linux.deleteLink(web.netns, 'eth0');
        assert.deepEqual(await running.client.add(cniRequest(web)), added);
        assert.deepEqual(settings(await node.linux.dump(web.netns)), settings(before));
        assert.deepEqual(await differences(running), []);
      });

      it('wires a pod again whose namespace was made again at its path', async () => {
        const node = makeNode();
        await using running = await startAgent(node, options);
        const added = await addPod(running, web);
        const before = await node.linux.dump(web.netns);
        assert.deepEqual(await addPod(running, web), added);
        assert.deepEqual(settings(await node.linux.dump(web.netns)), settings(before));
        assert.deepEqual(await differences(running), []);
      });

      it('sends no more requests on a node with more pods', async () => {
        const cost = async (pods: number) => {
          const node = makeNode();
          await using running = await startAgent(node, options);
          await addPod(running, web);
          for (let each = 0; each < pods; each++)
            await addPod(running, testPod(`pod-${each}`, (0xb0 + each).toString(16)));
          const costs: { vpp: string[]; linux: string[] }[] = [];
          // the shortest one: the watch of VPP reads, too, some time after a change
          for (let attempt = 0; attempt < 3; attempt++) {
            node.vpp.requests.length = 0;
            node.linux.operations.length = 0;
            assert.equal((await running.client.add(cniRequest(web))).error, '');
            costs.push({
              vpp: node.vpp.requests.map(({ name }) => name).sort(),
              linux: node.linux.operations.map((one) => JSON.stringify(one)).sort(),
            });
          }
          return costs.sort((one, other) => one.vpp.length - other.vpp.length)[0]!;
        };
        const few = await cost(1);
        assert.deepEqual(await cost(12), few);
        assert.ok(!few.vpp.includes('ip_route_v2_dump'), 'no table is dumped');
      });
    });
});

/** Everything but the numbers that the kernel assigns. */
function settings({ links, ...state }: Awaited<ReturnType<RunningAgent['node']['linux']['dump']>>) {
  const named = links.map(({ index: _index, peerIndex: _peer, ...link }) => link);
  return { ...state, links: named.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

async function differences(running: RunningAgent): Promise<unknown> {
  const { body } = await running.get('/scheduler/drift');
  return (body as { Differences: unknown }).Differences;
}
