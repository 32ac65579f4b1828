/** A NodeConfig on a real VPP: the node waits for it, changes its main interface, and refuses invalid ones. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { runIn } from '../support/netns.ts';
import { RealNode } from '../support/node.ts';

const KEY = REFLECTOR_PREFIX + resources.nodeconfig.key('node1', '');

describe('a NodeConfig on a real VPP', { skip: withoutNodes(), timeout: 180_000 }, () => {
  it('is waited for, applied, changed to another NIC, and refused', async () => {
    const contiv = { useTAPInterfaces: false, crdNodeConfigurationDisabled: false };
    await using node = await RealNode.create({ contiv });
    const { agent, etcd, vpp, netns } = node;
    for (const nic of ['nic1', 'nic2']) {
      const link = ['ip', 'link', 'add', nic, 'type', 'veth', 'peer', 'name', `${nic}-peer`];
      await runIn(netns.path, ...link);
      for (const end of [nic, `${nic}-peer`])
        await runIn(netns.path, 'ip', 'link', 'set', end, 'up');
    }
    const put = (link: string, ip: string) =>
      etcd.store.put(
        KEY,
        JSON.stringify({ node_name: 'node1', main_vpp_interface: { interface_name: link, ip } }),
      );
    const readiness = async () => {
      const { status, body } = await agent.get('/readiness').catch(() => ({ status: 0, body: '' }));
      return `${status} ${JSON.stringify(body)}`;
    };
    const ready = (wanted: RegExp) =>
      until(`readiness is ${wanted}`, async () => wanted.test(await readiness()));
    const state = async () => {
      const text = await etcd.store.get('/vnf-agent/contiv-nodeconfig/node1');
      return (JSON.parse(text ?? '{}') as { state?: string }).state;
    };
    const addresses = () => vpp.cli('show interface address');

    agent.launch();
    await ready(/^500.*waiting for the NodeConfig/);
    const web = await node.sandbox('web');
    // the CNI service starts last
    await until('ADD is refused with the reason', async () => {
      const reply = await agent.add(web).catch(() => undefined);
      return reply?.result === 11 && /waiting for the NodeConfig/.test(reply.error);
    });
    assert.doesNotMatch(await vpp.cli('show interface'), /host-|tap|loop|vxlan/);

    await put('host-nic1', '192.168.16.1/24');
    await ready(/^200/);
    await node.attach(web);
    assert.match(await addresses(), /host-nic1[^\n]*\n[^\n]*192\.168\.16\.1\/24/);

    await put('host-nic2', '192.168.17.1/24');
    await until('the other NIC has the address', async () =>
      /host-nic2[^\n]*\n[^\n]*192\.168\.17\.1\/24/.test(await addresses()),
    );
    await ready(/^200/);
    assert.doesNotMatch(await addresses(), /host-nic1/);
    await until('it is applied', async () => (await state()) === 'Applied');

    const before = await node.configuration();
    await put('host-nic9', '192.168.18.1/24');
    await ready(/host-nic9.*does not exist/);
    await until('it is refused', async () => (await state()) === 'Refused');
    assert.deepEqual(await node.configuration(), before);

    await agent.end('SIGKILL');
    agent.launch();
    await ready(/host-nic9.*does not exist/);
    assert.deepEqual(await node.configuration(), before);
    await node.pod('db');
  });
});
