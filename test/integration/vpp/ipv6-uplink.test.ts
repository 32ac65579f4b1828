/**
 * Neighbor discovery and link-local addresses of IPv6 at the uplink, at the link to the host and at pods: on a node of both
 * families, whose gateway of IPv6 is the link-local address of a machine outside.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { withoutNodes, withoutVhostNet } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { RealCluster } from '../support/cluster.ts';
import { networks } from '../support/networks.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { isReachable, ping } from '../support/traffic.ts';

const GATEWAY = 'fe80::99';
/** Behind the gateway. */
const REMOTE = '2001:db8::1';
const UPLINK = 'host-uplink';

describe('IPv6 at the links of a node', {
  skip: withoutNodes() || withoutVhostNet(),
  timeout: 240_000,
}, () => {
  let cluster: RealCluster;
  let web: Sandbox;

  before(async () => {
    cluster = await RealCluster.create({
      nodes: 2,
      isDual: true,
      gateway: GATEWAY,
      // the machine outside asks pods at their own addresses
      contiv: { natExternalTrafficIPv6: 'never' },
      before: async ({ outside }) => {
        await outside.run('ip', 'addr', 'add', `${GATEWAY}/64`, 'dev', 'eth0', 'nodad');
        await outside.run('ip', 'addr', 'add', `${REMOTE}/128`, 'dev', 'lo', 'nodad');
      },
    });
    web = await cluster.nodes[0]!.node.pod('web');
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  const vpp = () => cluster.nodes[0]!.node.vpp;
  /** VPP's link-local address of an interface. */
  const linkLocal = async (name: string) => {
    const text = await vpp().cli(`show ip6 interface ${name}`);
    const found = /fe80::[0-9a-f:]+/.exec(text)?.[0];
    assert.ok(found, text);
    return found;
  };
  const addressOfVpp = () => `fd16::${cluster.nodes[0]!.id}`;
  const forget = () => cluster.outside.run('ip', '-6', 'neigh', 'flush', 'dev', 'eth0');

  it('VPP answers those who ask for its address, and for its link-local one', async () => {
    const { outside } = cluster;
    for (const address of [addressOfVpp(), `${await linkLocal(UPLINK)}%eth0`]) {
      await forget();
      await ping(outside, address);
    }
  });

  it('VPP answers its host at its link-local address; a pod needs none, because both are static neighbors', async () => {
    const { id, node } = cluster.nodes[0]!;
    const text = await vpp().cli('show ip6 neighbors');
    const neighbor = (address: string) =>
      text
        .split('\n')
        .map((line) => line.trim().split(/\s+/))
        .find((words) => words.includes(address));
    const host = neighbor(networks[6].hostLink(id));
    await ping(node.netns, `${await linkLocal(host!.at(-1)!)}%vpp1`);
    // the column of its flags: static
    assert.match(neighbor(web.addressOf(6))!.join(' '), / SN? /);
    const ofPod = await web.run('ip', '-6', 'neigh', 'show', 'dev', 'eth0');
    assert.match(ofPod, /^fd01\S+ lladdr \S+ PERMANENT/m);
  });

  it('a link-local address is a gateway: pods reach what is behind it, and are reached', async () => {
    await until('the pod reaches it', () => isReachable(web, REMOTE));
    await ping(web, REMOTE);
    await forget();
    await ping(cluster.outside, web.addressOf(6));
  });

  it('a packet that is too large for pods is reported with the right size', async () => {
    // the kernel sends fragments when it has learned the MTU
    const command = ['ping', '-n', '-c', '4', '-i', '0.2', '-W', '2', '-s', '1452'];
    const replies = await cluster.outside.run(...command, web.addressOf(6));
    assert.ok(Number(/(\d+) received/.exec(replies)?.[1]) >= 3, replies);
    const route = await cluster.outside.run('ip', '-6', 'route', 'get', web.addressOf(6));
    assert.match(route, / mtu 1450/);
  });

  it('the same holds after a restart of VPP', async () => {
    await vpp().kill();
    await vpp().start();
    await until('the pod reaches the outside', () => isReachable(web, REMOTE), 60_000);
    await forget();
    for (const address of [addressOfVpp(), `${await linkLocal(UPLINK)}%eth0`])
      await ping(cluster.outside, address);
    await ping(cluster.outside, web.addressOf(6));
  });
});
