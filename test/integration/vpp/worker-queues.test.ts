/** Receive queues of pods on the two workers of a real VPP. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { withoutNodes, withoutVhostNet } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { RealNode } from '../support/node.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { isReachable } from '../support/traffic.ts';

const PODS = 20;
/** Two periods of the agent, and a busy machine. */
const LIMIT_MS = 60_000;

const skip = withoutNodes() || withoutVhostNet();

describe('the pods of a node whose VPP has two workers', { skip, timeout: 580_000 }, () => {
  let node: RealNode;
  const sandboxes: Sandbox[] = [];

  before(async () => {
    node = await RealNode.create({ workers: 2, contiv: { useTAPInterfaces: true } });
    await node.agent.start();
    for (let n = 0; n < PODS; n++) sandboxes.push(await node.pod(`pod-${n}`));
  });
  after(() => node?.[Symbol.asyncDispose]());

  /** Links of pods by worker. */
  const spread = async (): Promise<readonly [readonly number[], readonly number[]]> =>
    node.vpp.withClient(async (client) => {
      const all = 0xffff_ffff;
      const [placements, interfaces] = await Promise.all([
        client.dump('sw_interface_rx_placement_dump', { sw_if_index: all }),
        client.dump('sw_interface_dump', {
          sw_if_index: all,
          name_filter_valid: false,
          name_filter: '',
        }),
      ]);
      const pods = new Set(
        interfaces.filter(({ tag }) => tag.startsWith('vpp-tap-')).map((one) => one.sw_if_index),
      );
      const on = (thread: number) =>
        placements
          .filter(({ sw_if_index, worker_id }) => pods.has(sw_if_index) && worker_id === thread)
          .map(({ sw_if_index }) => sw_if_index);
      return [on(1), on(2)];
    });
  const numbers = async () => (await spread()).map(({ length }) => length);
  /** The host's link has a queue, too, so the pods may differ by two. */
  const isEven = async () => {
    const [a, b] = await numbers();
    return Math.abs(a! - b!) <= 2;
  };
  const assertReachable = async (some: readonly Sandbox[]) => {
    for (const { address } of some) assert.ok(await isReachable(node.netns, address), address);
  };

  it('are on both', async () => {
    const [a, b] = await numbers();
    assert.equal(a! + b!, PODS);
    assert.ok(await isEven(), `${a} and ${b}`);
  });

  it('stay there while the agent is restarted', async () => {
    const before = await spread();
    await node.agent.end('SIGTERM');
    await node.agent.start();
    assert.deepEqual(await spread(), before);
  });

  it('are on both after VPP was restarted', async () => {
    await node.vpp.kill();
    await node.vpp.start();
    await until('all pods are wired', async () => {
      const [a, b] = await numbers();
      return a! + b! === PODS;
    });
    assert.ok(await isEven(), String(await numbers()));
  });

  it('are spread again after all of one worker were deleted', async () => {
    const [, gone] = await spread();
    const tags = await node.vpp.withClient(async (client) => {
      const all = { sw_if_index: 0xffff_ffff, name_filter_valid: false, name_filter: '' };
      const found = await client.dump('sw_interface_dump', all);
      return found.filter(({ sw_if_index }) => gone.includes(sw_if_index)).map(({ tag }) => tag);
    });
    const isGone = ({ containerId }: Sandbox) =>
      tags.some((tag) => tag.startsWith(`vpp-tap-${containerId.slice(0, 16)}`));
    const deleted = sandboxes.filter(isGone);
    assert.equal(deleted.length, gone.length);
    const left = sandboxes.filter((one) => !isGone(one));
    for (const sandbox of deleted) await node.agent.delete(sandbox);
    await until('the queues are on both workers', isEven, LIMIT_MS);
    const [a, b] = await numbers();
    assert.equal(a! + b!, left.length);
    await assertReachable(left);
  });
});
