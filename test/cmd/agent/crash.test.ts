import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bothFamilies, networks } from '#test/integration/support/networks.ts';
import { selectNumbers } from '#test/support/part-of-cases.ts';
import { configuration } from './configuration.ts';
import { Life } from './crash.ts';
import { addPod, cniRequest, makeNode, reflectPod, replyAddress, startAgent } from './harness.ts';
import { create, remove, testPod, untilNoAddressIsStored, web } from './test-pods.ts';

const other = testPod('other', 'c');

/** The call during which the agent crashes; kubelet retries it after any result. */
async function unanswered(call: Promise<unknown>): Promise<void> {
  await call.catch(() => undefined);
}

/** Neighbors: two pods, the host and the two links of VRFs; in IPv6 likewise, with cnat in place of NAT44. */
const shapes = [
  { name: 'TAP', useTAPInterfaces: true, ipam: {}, neighbors: 5 },
  { name: 'VETH', useTAPInterfaces: false, ipam: {}, neighbors: 5 },
  { name: 'TAP, IPv6', useTAPInterfaces: true, ipam: networks[6].ipamConfig, neighbors: 5 },
  {
    name: 'TAP, IPv4 and IPv6',
    useTAPInterfaces: true,
    ipam: bothFamilies(4).ipamConfig,
    neighbors: 10,
  },
  {
    name: 'VETH, IPv6 and IPv4',
    useTAPInterfaces: false,
    ipam: bothFamilies(6).ipamConfig,
    neighbors: 10,
  },
];

for (const { name, useTAPInterfaces, ipam, neighbors } of shapes) {
  const options = { contiv: { useTAPInterfaces }, ipam };

  /** Runs one scenario for each crash point of the first agent. @returns the number of points */
  async function atEveryPoint(
    scenario: (life: Life, endAt: number) => Promise<void>,
  ): Promise<number> {
    for (const endAt of selectNumbers()) {
      const node = makeNode();
      const life = new Life(node);
      try {
        await scenario(life, endAt);
      } catch (error) {
        throw new Error(`point ${endAt}, ${life.names.at(-1)}`, { cause: error });
      }
      if (!life.isOver) return life.points;
    }
    return assert.fail('no last point');
  }

  describe(`an agent that crashes at any point (${name})`, () => {
    it('of an AddPod: the retry succeeds, no address is duplicated or leaked', async (t) => {
      const points = await atEveryPoint(async (life, endAt) => {
        const node = life.node;
        const first = await startAgent(node, { ...options, environment: life.environment() });
        const empty = await configuration(node);
        life.arm(endAt);
        await unanswered(addPod(first, web));
        await first.stop();
        life.end();

        await using second = await startAgent(node, options);
        const address = replyAddress(await second.client.add(cniRequest(web)));
        assert.notEqual(address, '');
        const unlike = replyAddress(await addPod(second, other));
        assert.notEqual(unlike, '');
        assert.notEqual(unlike, address);
        await reflectPod(node, web, address);
        const wired = await configuration(node, [web.netns, other.netns]);
        assert.equal(String(wired.vpp['neighbors']).split(',').length, neighbors);
        for (const pod of [web, other]) await remove(second, pod);
        await untilNoAddressIsStored(node);
        assert.deepEqual(await configuration(node), empty);
      });
      t.diagnostic(`${points} points`);
      assert.ok(points > 30);
    });

    it('of a DeletePod: the retry succeeds, and nothing remains', async (t) => {
      const points = await atEveryPoint(async (life, endAt) => {
        const node = life.node;
        const first = await startAgent(node, { ...options, environment: life.environment() });
        const empty = await configuration(node);
        await create(first, web);
        life.arm(endAt);
        await unanswered(first.client.delete(cniRequest(web)));
        await first.stop();
        life.end();

        await using second = await startAgent(node, options);
        await remove(second, web);
        await untilNoAddressIsStored(node);
        assert.deepEqual(await configuration(node), empty);
        const again = { ...web, containerId: 'd'.repeat(64) };
        assert.equal((await addPod(second, again)).error, '');
      });
      t.diagnostic(`${points} points`);
      assert.ok(points > 10);
    });
  });
}
