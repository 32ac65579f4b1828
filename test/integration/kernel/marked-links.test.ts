/** The search for marked links, and the marking of routes of the original agent, on the kernel. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, it } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { AGENT_ROUTE_PROTOCOL } from '#linux/api.ts';
import { hostPort } from '#linux/host-port.ts';
import { kernelHost } from '#linux/kernel/host.ts';
import { withoutKernel } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { Netns } from '../support/netns.ts';

const host = kernelHost({ clock: systemClock });

describe('links of pods on the kernel', { skip: withoutKernel(), timeout: 30_000 }, () => {
  it('are found in all namespaces with their addresses, and routes are marked in place', async () => {
    const pod = await Netns.create('marked');
    try {
      const alias = '/vnf-agent/other-label/linux-tap-0123abcd/vpp-tap-0123abcd/tap-17';
      await pod.run('ip', 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'peer0');
      await pod.run('ip', 'link', 'set', 'peer0', 'up');
      await pod.run('ip', 'link', 'set', 'eth0', 'alias', alias, 'address', '02:fe:00:00:00:01');
      await pod.run('ip', 'link', 'set', 'eth0', 'up');
      await pod.run('ip', 'addr', 'add', '10.9.8.7/32', 'dev', 'eth0');
      await pod.run('ip', 'route', 'add', '10.9.8.1/32', 'dev', 'eth0', 'scope', 'link');
      await pod.run('ip', 'route', 'add', 'default', 'via', '10.9.8.1', 'dev', 'eth0');
      const neighbor = [
        '10.9.8.1',
        'lladdr',
        '02:fe:00:00:00:02',
        'dev',
        'eth0',
        'nud',
        'permanent',
      ];
      await pod.run('ip', 'neigh', 'add', ...neighbor);

      const identity = await host.namespaceIdentity(pod.path);
      const { links, unlinked } = await hostPort(host, () => false).markedLinks();
      const found = links.filter(({ namespaceIdentity: { inode } }) => inode === identity?.inode);
      assert.deepEqual(
        found.map(({ namespace: _, ...link }) => link),
        [
          {
            namespaceIdentity: identity,
            name: 'eth0',
            logicalName: 'linux-tap-0123abcd',
            otherEnd: 'vpp-tap-0123abcd',
            mac: '02:fe:00:00:00:01',
            addresses: ['10.9.8.7/32'],
            neighbors: [{ address: '10.9.8.1', mac: '02:fe:00:00:00:02' }],
          },
        ],
      );
      assert.deepEqual(await host.namespaceIdentity(found[0]!.namespace), identity);
      assert.ok(!unlinked.includes(found[0]!.namespace!), 'its link is up');

      const { routes } = await host.dump(pod.path);
      for (const { protocol: _, ...route } of routes) await host.replaceRoute(pod.path, route);
      assert.deepEqual(
        (await host.dump(pod.path)).routes,
        routes.map((route) => ({ ...route, protocol: AGENT_ROUTE_PROTOCOL })),
      );
    } finally {
      await pod.remove();
    }
  });

  it('are missing in a namespace that is mounted and has only the loopback, or a link that is down', async () => {
    const empty = await Netns.create('empty');
    const down = await Netns.create('down');
    await down.run('ip', 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'peer0');
    // a service of the machine: not mounted
    const service = spawn('unshare', ['--net', 'sleep', '30'], { stdio: 'ignore' });
    try {
      const own = await host.namespaceIdentity(undefined);
      const path = `/proc/${service.pid}/ns/net`;
      await until('the service has its namespace', async () => {
        const identity = await host.namespaceIdentity(path);
        return identity !== undefined && identity.inode !== own?.inode;
      });
      const { unlinked } = await hostPort(host, () => false).markedLinks();
      for (const { path: mounted } of [empty, down]) assert.ok(unlinked.includes(mounted), mounted);
      assert.ok(!unlinked.includes(path));
    } finally {
      service.kill();
      await empty.remove();
      await down.remove();
    }
  });
});
