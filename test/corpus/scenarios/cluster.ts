/** Pods and nodes that come, change and go, and settings of this node. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeKubelet } from '#cmd/agent/fake-kubelet.ts';
import { seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { type AgentOptions, reflectPod, unreflectPod } from '#test/cmd/agent/harness.ts';
import {
  forgetNode,
  MAIN_INTERFACE,
  section,
  setNodeConfig,
  tellOfNode,
} from '#test/cmd/agent/scenario.ts';
import { FakeStnDaemon } from '#test/stn/fake-daemon.ts';
import { makeMachine, RecordedAgent } from '../record.ts';
import type { Recording } from '../recording.ts';
import {
  attach,
  examplesFolder,
  heal,
  KUBE_PREFIX,
  other,
  pod,
  second,
  started,
  third,
  web,
  webAgain,
} from './support.ts';

export async function shop(recording: Recording): Promise<void> {
  const machine = await makeMachine({ nics: false });
  const agent = new RecordedAgent(machine, recording, 'agent');
  const player = new FakeKubelet({
    store: machine.cluster,
    manifests: examplesFolder,
    nodeName: 'node1',
    serviceCidr: '10.96.0.0/12',
    addNamespace: (path) => machine.linux.addNamespace(path),
    random: seededRandom(3),
    log: silentLogger,
  });
  await player.fillStore();
  await agent.start();
  await agent.step('pods', async () => {
    for (const { name, address } of await player.startPods(agent.cniSocket))
      recording.add('pods', `${name} ${address ?? 'not attached'}`);
  });
  await agent.step('a while later', () => undefined, 10_000);
  await agent.everything();
  await agent.finalState();
  await agent.stop();
}

export async function pods(recording: Recording, useTAPInterfaces: boolean): Promise<void> {
  const agent = await started(recording, 'agent', { contiv: { useTAPInterfaces } });
  const { machine } = agent;
  const address = await attach(agent, web);
  await agent.step('the pod shows', () => reflectPod(machine, web, address), 1000);
  await agent.addPod(web);
  await attach(agent, other);
  await attach(agent, webAgain);
  await agent.deletePod(web);
  await agent.addPod(pod('gone', 'd'));
  await agent.step('a custom address', () => undefined, 6000);
  await agent.deletePod(pod('unknown', 'e'));
  await agent.deletePod(other);
  await agent.deletePod(other);
  machine.linux.removeNamespace(webAgain.netns);
  await agent.step('the pod is deleted', () => unreflectPod(machine, web), 1000);
  await agent.histories();
  await agent.deletePod(webAgain);
  await heal(agent);
  await agent.document('/metrics', { large: true });
  await agent.finalState([web.netns]);
  await agent.stop();
}

export async function nodes(recording: Recording, options: AgentOptions): Promise<void> {
  const agent = await started(recording, 'agent', options);
  const { machine } = agent;
  await attach(agent, web);
  await agent.step('node2 joins', () => tellOfNode(machine, 'node2', second), 500);
  await agent.step('node3 joins', () => tellOfNode(machine, 'node3', third), 500);
  const moved = { ...second, vpp: '192.168.16.77/24' };
  await agent.step('node2 moves', () => tellOfNode(machine, 'node2', moved), 500);
  const renamed = { ...third, address: '172.16.0.17' };
  await agent.step('node3 has another address', () => tellOfNode(machine, 'node3', renamed), 500);
  await agent.step('node4 overlaps', () => tellOfNode(machine, 'node4', { ...moved, id: 4 }), 500);
  await agent.step('the own host moves', async () => {
    await machine.linux.deleteAddress(undefined, 'eth0', '172.16.0.5/24');
    await machine.linux.addAddress(undefined, 'eth0', '172.16.0.9/24');
    await tellOfNode(machine, 'node1', { address: '172.16.0.9' });
  });
  await agent.step('node2 leaves', () => forgetNode(machine, 'node2', 2), 500);
  await agent.step('node4 leaves', () => forgetNode(machine, 'node4', 4), 500);
  await heal(agent);
  await agent.histories();
  await agent.document('/metrics', { large: true });
  await agent.finalState();
  await agent.stop();
}

const ipv6: AgentOptions = {
  ipam: {
    podSubnetCIDR: 'fd01::/48',
    podSubnetOneNodePrefixLen: 64,
    vppHostSubnetCIDR: 'fd02::/48',
    vppHostSubnetOneNodePrefixLen: 64,
    nodeInterconnectCIDR: 'fd03::/48',
    vxlanCIDR: 'fd04::/48',
    serviceCIDR: 'fd05::/108',
  },
};

export async function withIpv6(recording: Recording): Promise<void> {
  for (const nodeToNodeTransport of ['vxlan', 'nooverlay'] as const) {
    const options = { ...ipv6, contiv: { nodeToNodeTransport } };
    const agent = await started(recording, nodeToNodeTransport, options);
    const { machine } = agent;
    await attach(agent, web);
    const joining = { address: 'fd09::6', id: 2, vpp: 'fd03::2/48' };
    await agent.step('node2 joins', () => tellOfNode(machine, 'node2', joining), 500);
    await agent.step('node2 leaves', () => forgetNode(machine, 'node2', 2), 500);
    await agent.deletePod(web);
    await agent.histories(nodeToNodeTransport === 'nooverlay');
    await agent.finalState();
    await agent.stop();
  }
}

export async function stolenNic(recording: Recording): Promise<void> {
  for (const stnVersion of [1, 2]) {
    const folder = mkdtempSync(join(tmpdir(), 'corpus-'));
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
    const contiv = { stealFirstNIC: true, stnVersion, stnSocketFile, nodeConfig: [section({})] };
    const agent = await started(recording, `version ${stnVersion}`, { contiv });
    await attach(agent, web);
    await agent.step('node2 joins', () => tellOfNode(agent.machine, 'node2', second), 500);
    await heal(agent);
    await agent.histories(stnVersion === 2);
    await agent.finalState();
    await agent.stop();
    daemon.close();
    rmSync(folder, { recursive: true });
  }
}

export async function leases(recording: Recording): Promise<void> {
  const contiv = { nodeConfig: [section({ useDhcp: true })] };
  const agent = await started(recording, 'agent', { contiv });
  const { machine } = agent;
  const offer = (address: string, router: string) => () =>
    machine.vpp.dhcpServer.offer(MAIN_INTERFACE, { address, router });
  await agent.step('node2 joins', () => tellOfNode(machine, 'node2', second), 500);
  await agent.step('a lease', offer('192.168.16.50/24', '192.168.16.1'), 3000);
  await attach(agent, web);
  await agent.step('another lease', offer('192.168.16.51/24', '192.168.16.9'), 3000);
  const noOffer = () => machine.vpp.dhcpServer.offer(MAIN_INTERFACE, undefined);
  await agent.step('no lease', noOffer, 3000);
  await heal(agent);
  await agent.histories();
  await agent.finalState();
  await agent.stop();
}

export async function otherConfigurations(recording: Recording): Promise<void> {
  const configured = await makeMachine();
  await setNodeConfig(configured, {});
  const contiv = { crdNodeConfigurationDisabled: false };
  const crd = await started(recording, 'NodeConfig', { contiv }, configured);
  const withGateway = { main_vpp_interface: { ip: '10.10.0.1/24' }, gateway: '10.10.0.9' };
  await crd.step('comes', () => setNodeConfig(crd.machine, withGateway), 500);
  const changed = { main_vpp_interface: { ip: '10.10.0.2/24' } };
  await crd.step('changes', () => setNodeConfig(crd.machine, changed), 500);
  const key = `${KUBE_PREFIX}k8s/nodeconfig/node1`;
  await crd.step('goes', () => crd.machine.cluster.delete(key), 500);
  await crd.histories();
  await crd.stop();

  const cut = await started(recording, 'networks cut out of one', {
    ipam: { contivCIDR: '10.128.0.0/14', nodeInterconnectCIDR: '' },
  });
  await attach(cut, web);
  await cut.histories(true);
  await cut.stop();

  const external = await started(recording, 'IPAM of others', { ipam: { useExternalIPAM: true } });
  const { machine } = external;
  const own = { address: '172.16.0.5', podCidr: '10.1.70.0/24' };
  await external.step('a pod network', () => tellOfNode(machine, 'node1', own), 500);
  machine.linux.addNamespace(web.netns);
  const ipam_data = JSON.stringify({ version: '4', address: '10.55.0.7/24' });
  await external.addPod(web, { ipam_type: 'host-local', ipam_data });
  const podCidr = '10.1.71.0/24';
  await external.step('another', () => tellOfNode(machine, 'node1', { ...own, podCidr }), 500);
  await external.histories(true);
  await external.stop();
}
