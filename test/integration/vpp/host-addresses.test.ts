/** Addresses that the host of a node gets and loses, without a change of its Node object. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withoutNodes, withoutVhostNet } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { RealNode } from '../support/node.ts';
import { ping } from '../support/traffic.ts';

const ADDRESS = '172.21.0.7';

const options = { skip: withoutNodes() || withoutVhostNet(), timeout: 200_000 };

describe('the addresses of the host', options, () => {
  it('are followed while the agent runs, and pods continue', async () => {
    await using node = await RealNode.create({ links: 'TAP' });
    await node.agent.start();
    const web = await node.pod('web');
    const host = (command: string) => node.netns.run('ip', ...command.split(' '));
    /** Whether VPP has a route of its own to the address. */
    const isRouted = async () => (await node.vpp.cli('show ip fib')).includes(`${ADDRESS}/32`);
    assert.equal(await isRouted(), false);

    await host('link add nic2 type veth peer name nic2-peer');
    await host('link set nic2-peer up');
    await host('link set nic2 up');
    await host(`address add ${ADDRESS}/24 dev nic2`);
    await until('the new address', isRouted, 30_000);
    await ping(web, ADDRESS);

    await host(`address del ${ADDRESS}/24 dev nic2`);
    await until('its loss', async () => !(await isRouted()), 30_000);
    const names = (await node.agent.history()).map(({ Name }) => Name);
    assert.equal(names.filter((name) => name === 'Host Address Change').length, 2, names.join());
  });
});
