/** The whole agent with each variant of the node wiring. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { FakeStnDaemon } from '#test/stn/fake-daemon.ts';
import { addPod, replyAddress } from './harness.ts';
import {
  forgetNode,
  MAIN_INTERFACE,
  nodeWithNics,
  Scenario,
  section,
  setNodeConfig,
  tellOfNode,
} from './scenario.ts';
import { web } from './test-pods.ts';

const other = { address: '172.16.0.6', id: 2, vpp: '192.168.16.2/24' };
const options = { timeout: 60_000 };

async function nodeIp({ running }: Scenario): Promise<string> {
  const { status, body } = await running.get('/contiv/v1/ipam');
  return status === 200 ? (body as { nodeIP: string }).nodeIP : '';
}

/** A pod of the node is attached. */
async function attach({ running }: Scenario): Promise<string> {
  const reply = await addPod(running, web);
  assert.equal(reply.error, '');
  return replyAddress(reply);
}

describe('a node on the simulator', options, () => {
  it('with TAP and VXLAN: another node joins, moves and leaves', async () => {
    await using scenario = await Scenario.start();
    const { node } = scenario;
    await scenario.assertSettled();
    const alone = node.vpp.snapshot();
    await attach(scenario);
    await tellOfNode(node, 'node2', other);
    const tunnel = async () => (await scenario.configured('interfaces/vxlan-default-2')).length > 0;
    await scenario.until(tunnel);
    await scenario.assertSettled();
    await tellOfNode(node, 'node2', { ...other, vpp: '192.168.16.77/24' });
    await scenario.until(() => JSON.stringify(node.vpp.snapshot()).includes('192.168.16.77'));
    await scenario.assertSettled();
    await forgetNode(node, 'node2', 2);
    await scenario.until(async () => !(await tunnel()));
    await scenario.running.client.delete({
      container_id: web.containerId,
      network_namespace: web.netns,
      interface_name: 'eth0',
      extra_arguments: 'K8S_POD_NAME=web;K8S_POD_NAMESPACE=default',
    });
    await scenario.assertSettled();
    assert.deepEqual(node.vpp.snapshot(), alone);
  });

  it('without an overlay', async () => {
    await using scenario = await Scenario.start({ contiv: { nodeToNodeTransport: 'nooverlay' } });
    await attach(scenario);
    await tellOfNode(scenario.node, 'node2', other);
    await scenario.until(async () => (await scenario.configured('dst/10.1.2.0/24')).length === 1);
    assert.deepEqual(await scenario.configured('dst/10.1.2.0/24'), [
      'config/vpp/v2/route/vrf/0/dst/10.1.2.0/24/gw/192.168.16.2',
    ]);
    assert.deepEqual(await scenario.configured('vxlan'), []);
    await scenario.assertSettled();
  });

  it('with a DHCP lease that changes and expires', async () => {
    const contiv = { nodeConfig: [section({ useDhcp: true })] };
    await using scenario = await Scenario.start({ contiv });
    const { node } = scenario;
    await tellOfNode(node, 'node2', other);
    assert.equal(await nodeIp(scenario), '');
    for (const [address, router] of [
      ['192.168.16.50/24', '192.168.16.1'],
      ['192.168.16.51/24', '192.168.16.9'],
    ] as const) {
      node.vpp.dhcpServer.offer(MAIN_INTERFACE, { address, router });
      await scenario.until(async () => `${await nodeIp(scenario)}/24` === address);
      await scenario.until(() =>
        node.cluster
          .get('/vnf-agent/contiv-ksr/allocatedIDs/1')
          .then((text) => text?.includes(address) ?? false),
      );
      await scenario.until(async () => (await scenario.configured('vxlan-default-2')).length > 0);
      await scenario.assertSettled();
    }
    node.vpp.dhcpServer.offer(MAIN_INTERFACE, undefined);
    await scenario.until(async () => (await nodeIp(scenario)) === '');
    await scenario.until(async () => (await scenario.configured('vxlan-default-2')).length === 0);
    await scenario.assertSettled();
  });

  for (const stnVersion of [1, 2])
    it(`whose NIC VPP took over, version ${stnVersion}`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'stn-'));
      const stnSocketFile = join(folder, 'stn.sock');
      const daemon = await FakeStnDaemon.start(stnSocketFile);
      daemon.taken.set('eth1', {
        pci_address: '0000:0b:00.0',
        kernel_driver: 'e1000',
        ip_addresses: ['10.20.0.5/24'],
        routes: [
          { destination_subnet: '', next_hop_ip: '10.20.0.1' },
          { destination_subnet: '10.99.0.0/16', next_hop_ip: '10.20.0.9' },
        ],
      });
      try {
        const contiv = {
          stealFirstNIC: true,
          stnVersion,
          stnSocketFile,
          nodeConfig: [section({})],
        };
        await using scenario = await Scenario.start({ contiv });
        await attach(scenario);
        assert.equal(await nodeIp(scenario), '10.20.0.5');
        const { links, routes } = await scenario.node.linux.dump(undefined);
        const host = links.find(({ name }) => name === 'vpp1')!;
        assert.deepEqual([host.addresses, host.mac], [['10.20.0.5/24'], '00:00:00:00:00:02']);
        for (const destination of ['0.0.0.0/0', '10.99.0.0/16', '10.1.0.0/16'])
          assert.equal(
            routes.find((route) => route.destination === destination)?.gateway,
            '10.20.0.1',
          );
        const handOver =
          stnVersion === 1
            ? 'config/vpp/stn/v2/rule/tap-vpp2/ip/10.20.0.5'
            : 'config/vpp/v2/ipredirect/l3/ALL/tx/tap-vpp2';
        assert.deepEqual(await scenario.configured(handOver), [handOver]);
        assert.deepEqual(await scenario.configured('if/host-eth1'), [
          'config/vpp/v2/route/if/host-eth1/vrf/0/dst/0.0.0.0/0/gw/10.20.0.1',
          'config/vpp/v2/route/if/host-eth1/vrf/0/dst/10.99.0.0/16/gw/10.20.0.9',
        ]);
        await scenario.assertSettled();
      } finally {
        daemon.close();
        rmSync(folder, { recursive: true });
      }
    });

  it('whose NodeConfig is empty, changed and deleted', async () => {
    const node = await nodeWithNics();
    await setNodeConfig(node, {});
    await using scenario = await Scenario.start(
      { contiv: { crdNodeConfigurationDisabled: false } },
      node,
    );
    assert.equal(await nodeIp(scenario), '192.168.16.1');
    await setNodeConfig(node, { main_vpp_interface: { ip: '10.10.0.1/24' }, gateway: '10.10.0.9' });
    await scenario.until(async () => (await nodeIp(scenario)) === '10.10.0.1');
    await scenario.until(async () => (await scenario.configured('gw/10.10.0.9')).length === 1);
    await scenario.assertSettled();
    await setNodeConfig(node, { main_vpp_interface: { ip: '10.10.0.2/24' } });
    await scenario.until(async () => (await nodeIp(scenario)) === '10.10.0.2');
    assert.deepEqual(await scenario.configured('gw/10.10.0.9'), []);
    await scenario.assertSettled();
    await node.cluster.delete('/vnf-agent/contiv-ksr/k8s/nodeconfig/node1');
    await scenario.until(async () => (await nodeIp(scenario)) === '192.168.16.1');
    await scenario.assertSettled();
    const { body } = await scenario.running.get('/controller/event-history');
    const names = (body as { Name: string }[]).map(({ Name }) => Name);
    const count = names.filter((name) => name === 'Node-specific Configuration Change').length;
    assert.equal(count, 3, names.join());
  });

  it('whose host address changes', async () => {
    await using scenario = await Scenario.start();
    const { linux } = scenario.node;
    await linux.deleteAddress(undefined, 'eth0', '172.16.0.5/24');
    await linux.addAddress(undefined, 'eth0', '172.16.0.9/24');
    // kubelet updates the Node record
    await tellOfNode(scenario.node, 'node1', { address: '172.16.0.9' });
    // to the host, from the table of the pods to that of the host, and in both tables of sources for replies that go back by it
    await scenario.until(async () => (await scenario.configured('dst/172.16.0.9/32')).length === 4);
    assert.deepEqual(await scenario.configured('dst/172.16.0.5/32'), []);
    await scenario.assertSettled();
  });

  it('whose subnets are computed from contivCIDR', async () => {
    await using scenario = await Scenario.start({
      ipam: { contivCIDR: '10.128.0.0/14', nodeInterconnectCIDR: '' },
    });
    assert.match(await attach(scenario), /^10\.128\.0\.1(2[89]|3\d)$/);
    assert.equal(await nodeIp(scenario), '10.130.0.1');
    const { links } = await scenario.node.linux.dump(undefined);
    const host = links.find(({ name }) => name === 'vpp1')!;
    assert.deepEqual(host.addresses, ['10.129.0.130/25']);
    await scenario.assertSettled();
  });

  it('whose pods get their addresses from an external IPAM plugin', async () => {
    const node = await nodeWithNics();
    await tellOfNode(node, 'node1', { address: '172.16.0.5', podCidr: '10.1.70.0/24' });
    await using scenario = await Scenario.start({ ipam: { useExternalIPAM: true } }, node);
    node.linux.addNamespace(web.netns);
    const reply = await scenario.running.client.add({
      container_id: web.containerId,
      network_namespace: web.netns,
      interface_name: 'eth0',
      extra_arguments: 'K8S_POD_NAME=web;K8S_POD_NAMESPACE=default',
      ipam_type: 'host-local',
      ipam_data: JSON.stringify({ version: '4', address: '10.55.0.7/24' }),
    });
    assert.deepEqual([reply.error, replyAddress(reply)], ['', '10.55.0.7']);
    await scenario.assertSettled();
    await tellOfNode(node, 'node1', { address: '172.16.0.5', podCidr: '10.1.71.0/24' });
    const own = async () => (await scenario.running.get('/contiv/v1/ipam')).body as object;
    await scenario.until(async () => JSON.stringify(await own()).includes('10.1.71.0/24'));
    await scenario.assertSettled();
    assert.deepEqual(await scenario.running.get('/contiv/v1/ipam/allocations'), {
      status: 200,
      body: {
        Pods: [
          {
            PodID: { Name: 'web', Namespace: 'default' },
            MainIP: '10.55.0.7',
            CustomIfIPs: null,
          },
        ],
      },
    });
  });
});
