/**
 * VPP drops the packet that makes it resolve the MAC of a next hop. So neighbors are configured, or
 * resolved before a pod sends its first packet to them.
 */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { withoutNodes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { RealCluster } from '../support/cluster.ts';
import { isReachable, type NetworkNamespace } from '../support/traffic.ts';

const PINGS = 3;

/** How many of the first pings have no reply. */
async function lostOfFirst(from: NetworkNamespace, address: string): Promise<number> {
  const command = `ping -n -c ${PINGS} -i 0.2 -W 2 ${address} || true`;
  const output = await from.run('sh', '-c', command);
  return PINGS - Number(/(\d+) received/.exec(output)![1]);
}

/** Each destination of the pods of the first node that is not behind another machine. */
async function assertNoneLost(
  t: TestContext,
  when: string,
  from: NetworkNamespace,
  destinations: Readonly<Record<string, string>>,
): Promise<void> {
  const lost: Record<string, number> = {};
  for (const [name, address] of Object.entries(destinations))
    lost[name] = await lostOfFirst(from, address);
  t.diagnostic(`lost of the first ${PINGS} packets, ${when}: ${JSON.stringify(lost)}`);
  const none = Object.keys(destinations).map((name) => [name, 0]);
  assert.deepEqual(lost, Object.fromEntries(none));
}

for (const family of [4, 6] as const)
  for (const transport of ['vxlan', 'nooverlay'] as const)
    describe(`first packet of a pod, IPv${family}, ${transport}`, {
      skip: withoutNodes(),
      timeout: 300_000,
    }, () => {
      it('reaches pods and hosts of all nodes, also after a restart of VPP', async (t) => {
        await using cluster = await RealCluster.create({
          nodes: 2,
          family,
          contiv: { nodeToNodeTransport: transport },
        });
        const [one, two] = cluster.nodes;
        const [web, db] = [await one!.node.pod('web'), await one!.node.pod('db')];
        const far = await two!.node.pod('far');
        const destinations = {
          'pod of the node': db.address,
          // first: the host must not know VPP from a request with an address of the link
          host: one!.host.address,
          'link of the host': cluster.networks.hostLink(one!.id),
          'pod of the other node': far.address,
          'VPP of the other node': two!.nodeIp,
          'link of the other host': cluster.networks.hostLink(two!.id),
          'other host': two!.host.address,
        };
        await assertNoneLost(t, 'after ADD', web, destinations);
        await one!.host.run('ip', 'neigh', 'flush', 'dev', 'vpp1');
        await assertNoneLost(t, 'without the learned neighbors of the host', web, destinations);
        await one!.node.vpp.kill();
        await one!.node.vpp.start();
        await until('the pods of the node ping again', () => isReachable(db, web.address));
        await until('the healing resync is in the history', async () =>
          (await one!.node.agent.history()).some(({ Name }) => Name === 'Healing Resync'),
        );
        await assertNoneLost(t, 'after a restart of VPP', web, destinations);
      });
    });
