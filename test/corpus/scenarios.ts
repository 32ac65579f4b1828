/** Inputs of the corpus: what happens to an agent, to VPP, to Linux and to the datastore. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { FakeKubelet } from '#cmd/agent/fake-kubelet.ts';
import { FaultInjectingStore } from '#datastore/fault-injection.ts';
import { seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { HealingResync } from '#plugins/controller/api/events.ts';
import {
  type AgentOptions,
  reflectPod,
  type TestPod,
  unreflectPod,
} from '#test/cmd/agent/harness.ts';
import {
  forgetNode,
  MAIN_INTERFACE,
  section,
  setNodeConfig,
  tellOfNode,
} from '#test/cmd/agent/scenario.ts';
import { FakeStnDaemon } from '#test/stn/fake-daemon.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { recordLinuxExamples, recordVppExamples } from './examples.ts';
import { families, recordFamily } from './random.ts';
import {
  codeOf,
  type Machine,
  makeMachine,
  RecordedAgent,
  type RecordedOptions,
} from './record.ts';
import type { Recording } from './recording.ts';

export interface Scenario {
  readonly name: string;
  readonly run: (recording: Recording) => Promise<void>;
}

const examplesFolder = resolve(import.meta.dirname, '../../examples');
const KUBE_PREFIX = '/vnf-agent/contiv-ksr/';
const EXTERNAL_PREFIX = '/vnf-agent/node1/config/';

function pod(name: string, container: string): TestPod {
  return { name, containerId: container.repeat(64), netns: `/run/netns/${name}-${container}` };
}

const web = pod('web', 'a');
const other = pod('other', 'c');
const webAgain = pod('web', 'b');
const late = pod('late', 'f');
const second = { address: '172.16.0.6', id: 2, vpp: '192.168.16.2/24' };
const third = { address: '172.16.0.7', id: 3, vpp: '192.168.16.3/24' };

async function started(
  recording: Recording,
  name: string,
  options: RecordedOptions = {},
  machine?: Machine,
): Promise<RecordedAgent> {
  const agent = new RecordedAgent(machine ?? (await makeMachine()), recording, name, options);
  await agent.start();
  return agent;
}

/** The runtime makes the namespace, then asks for the interface. */
async function attach(agent: RecordedAgent, one: TestPod): Promise<string> {
  agent.machine.linux.addNamespace(one.netns);
  return agent.addPod(one);
}

const heal = (agent: RecordedAgent): Promise<void> =>
  agent.step('healing', async () => {
    const event = HealingResync.event({ type: 'after-error', error: 'asked for' });
    await agent.controller.pushAndWait(event).catch(() => undefined);
  });

async function shop(recording: Recording): Promise<void> {
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

async function pods(recording: Recording, useTAPInterfaces: boolean): Promise<void> {
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

async function nodes(recording: Recording, options: AgentOptions): Promise<void> {
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

async function withIpv6(recording: Recording): Promise<void> {
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

async function stolenNic(recording: Recording): Promise<void> {
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

async function leases(recording: Recording): Promise<void> {
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

async function vppLost(recording: Recording): Promise<void> {
  const agent = await started(recording, 'agent');
  const { machine } = agent;
  const { vpp } = machine;
  await attach(agent, web);
  await agent.step('VPP ends', () => vpp.crash(), 500);
  await agent.document('/readiness');
  await attach(agent, other);
  await agent.step('a node joins', () => tellOfNode(machine, 'node2', second), 500);
  await agent.step('VPP is back', () => vpp.start(), 12_000);
  await agent.addPod(other);
  await agent.step('VPP loses the connection', () => {
    vpp.faults.add(1, { disconnect: 'after' }, ({ name }) => name === 'ip_route_add_del_v2');
    vpp.faults.add(1, { disconnect: 'after' }, ({ name }) => name === 'ip_route_add_del');
  });
  await attach(agent, webAgain);
  await agent.step('the connection is back', () => undefined, 12_000);
  vpp.faults.clear();
  vpp.faults.add(1, { hang: 'after' }, ({ name }) => name === 'sw_interface_set_flags');
  machine.linux.addNamespace(late.netns);
  await agent.addPodFor(late, 10_000);
  await agent.step('the hanging VPP was left', () => undefined, 12_000);
  await agent.step('VPP restarts', async () => {
    vpp.faults.clear();
    vpp.crash();
    await vpp.start();
  });
  await agent.step('a while later', () => undefined, 12_000);
  await agent.histories(true);
  await agent.finalState([web.netns, other.netns]);
  await agent.stop();
}

/** An operator changes VPP and Linux behind the agent's back. */
async function drift(recording: Recording): Promise<void> {
  const agent = await started(recording, 'agent');
  const { machine } = agent;
  const { linux, vpp, clock } = machine;
  await attach(agent, web);
  await agent.step('node2 joins', () => tellOfNode(machine, 'node2', second), 500);
  const log = silentLogger;
  const client = new BinapiClient({ connect: vpp.connect(), clock, random: seededRandom(8), log });
  client.start();
  await client.whenConnected();
  const interfaces = await client.dump('sw_interface_dump', {
    sw_if_index: 0xffff_ffff,
    name_filter_valid: false,
    name_filter: '',
  });
  const indexOf = (tag: RegExp): number =>
    interfaces.find((one) => tag.test(one.tag))?.sw_if_index ?? 0;
  const uplink = indexOf(/^host-eth1$/);
  const podTap = indexOf(/^vpp-tap-/);
  const down = (sw_if_index: number) =>
    client.request('sw_interface_set_flags', { sw_if_index, flags: 0 });
  const lose = (act: () => Promise<unknown>) => async () => {
    const outcome = await act().then(() => 'done', codeOf);
    recording.add('drift', outcome);
  };
  const drifts: Record<string, () => Promise<unknown>> = {
    'interfaces go down': async () => {
      for (const index of [uplink, indexOf(/^tap-vpp2$/), podTap]) await down(index);
    },
    'a TAP is deleted': () => client.request('tap_delete_v2', { sw_if_index: podTap }),
    'a tunnel is deleted': () =>
      client.request('vxlan_add_del_tunnel_v3', { ...tunnelToNode2, is_add: false }),
    'an address is lost': () =>
      client.request('sw_interface_add_del_address', {
        sw_if_index: uplink,
        is_add: false,
        del_all: true,
        prefix: { address: { af: 0, un: new Uint8Array(16) }, len: 0 },
      }),
    'a loopback is deleted': () =>
      client.request('delete_loopback', { sw_if_index: indexOf(/^podGwLoop$/) }),
    'addresses of a link are lost': () => linux.deleteAddress(undefined, 'vpp1', '172.30.1.2/24'),
    'a route of the host is lost': () =>
      linux.deleteRoute(undefined, {
        destination: '10.1.0.0/16',
        gateway: '172.30.1.1',
        device: 'vpp1',
        scope: 'global',
        metric: 0,
      }),
    'a link is set otherwise': () => linux.setLink(undefined, 'vpp1', { mtu: 1300, up: false }),
    'a link of a pod is lost': () => linux.deleteLink(web.netns, 'eth0'),
  };
  for (const [name, act] of Object.entries(drifts)) {
    await agent.step(name, lose(act), 200);
    await agent.step('downstream resync', () =>
      agent.document('/scheduler/downstream-resync', { method: 'POST', title: name }),
    );
  }
  await agent.step('everything at once', async () => {
    for (const act of Object.values(drifts)) await lose(act)();
  });
  await heal(agent);
  await client.close();
  await agent.histories();
  await agent.finalState([web.netns]);
  await agent.stop();
}

const tunnelToNode2 = {
  instance: 0xffff_ffff,
  src_address: { af: 0, un: Uint8Array.from([192, 168, 16, 1]) },
  dst_address: { af: 0, un: Uint8Array.from([192, 168, 16, 2]) },
  src_port: 4789,
  dst_port: 4789,
  mcast_sw_if_index: 0xffff_ffff,
  encap_vrf_id: 0,
  decap_next_index: 1,
  vni: 10,
  is_l3: false,
};

/** The n-th change that VPP is asked for is refused: the pod is reverted, everything else retried. */
async function refusals(recording: Recording): Promise<void> {
  const isChange = ({ kind, name }: { kind: string; name: string }) =>
    kind === 'request' && !/_get(_|$)|show_/.test(name);
  for (const n of [1, 2, 3, 5, 7, 9, 11, 13]) {
    const agent = await started(recording, `pod, ${n}`, { isBrief: n > 2 });
    const { vpp } = agent.machine;
    vpp.faults.add(n, { refuse: -1 }, isChange);
    await attach(agent, web);
    await agent.step('healing after the error', () => undefined, 7000);
    await agent.addPod(web);
    vpp.faults.clear();
    vpp.faults.add(n, { refuse: -1 }, isChange);
    await agent.step('node2 joins', () => tellOfNode(agent.machine, 'node2', second), 7000);
    vpp.faults.clear();
    await heal(agent);
    await agent.histories(n > 1);
    await agent.stop();
  }
  for (const n of [1, 4, 10, 16, 24, 32]) {
    const machine = await makeMachine();
    machine.vpp.faults.add(n, { refuse: -1 }, isChange);
    const agent = await started(recording, `startup, ${n}`, { isBrief: n > 1 }, machine);
    await agent.step('retries and healing', () => undefined, 15_000);
    await attach(agent, web);
    await agent.histories(n > 1);
    await agent.stop();
  }
  await refusedByLinux(recording);
}

async function refusedByLinux(recording: Recording): Promise<void> {
  for (const useTAPInterfaces of [true, false])
    for (const n of [1, 3, 6]) {
      const name = `${useTAPInterfaces ? 'TAP' : 'VETH'}, Linux refuses ${n}`;
      const agent = await started(recording, name, {
        contiv: { useTAPInterfaces },
        isBrief: n > 1,
      });
      agent.machine.linux.faults.add(n, 'EPERM', (operation) => operation.name !== 'dump');
      await attach(agent, web);
      await agent.step('healing after the error', () => undefined, 7000);
      await agent.addPod(web);
      await agent.histories(true);
      await agent.stop();
    }
}

const loopback = (name: string, more: object = {}) =>
  JSON.stringify({ name, type: 'SOFTWARE_LOOPBACK', enabled: true, ...more });

async function malformed(recording: Recording): Promise<void> {
  const machine = await makeMachine();
  const records: Record<string, string> = {
    [`${KUBE_PREFIX}k8s/pod/broken/namespace/default`]: '{not json',
    [`${KUBE_PREFIX}k8s/pod/odd/namespace/default`]: '{"name":7}',
    [`${KUBE_PREFIX}k8s/pod/moved/namespace/default`]: '{"name":"else","namespace":"default"}',
    [`${KUBE_PREFIX}k8s/node/node9`]: '[]',
    [`${KUBE_PREFIX}k8s/node/node8`]: '{"name":"node8","addresses":[{"address":"no address"}]}',
    [`${KUBE_PREFIX}k8s/nodeconfig/node1`]: '{"main_vpp_interface":5}',
    [`${KUBE_PREFIX}allocatedIDs/x`]: '{"id":2,"name":"node2"}',
    [`${KUBE_PREFIX}allocatedIDs/5`]: '{"id":6,"name":"node6","ip_addresses":["nowhere"]}',
    [`${KUBE_PREFIX}k8s/unknown/one`]: '{}',
    [`${EXTERNAL_PREFIX}vpp/v2/interfaces/loop1`]: loopback('loop2'),
    [`${EXTERNAL_PREFIX}vpp/v2/interfaces/loop3`]: loopback('loop3', { mtu: 'much' }),
    [`${EXTERNAL_PREFIX}vpp/v2/interfaces/loop4`]: loopback('loop4', { ip_addresses: ['x'] }),
    [`${EXTERNAL_PREFIX}vpp/v2/interfaces/loop5`]: loopback('loop5'),
    [`${EXTERNAL_PREFIX}unknown/one`]: '{}',
  };
  for (const [key, value] of Object.entries(records)) await machine.cluster.put(key, value);
  const agent = await started(recording, 'agent', {}, machine);
  const put = (key: string, value: string | undefined) =>
    agent.step(
      `${value === undefined ? 'delete' : 'put'} ${key}`,
      async () => {
        if (value === undefined) await machine.cluster.delete(key);
        else await machine.cluster.put(key, value);
      },
      500,
    );
  await attach(agent, web);
  for (const key of Object.keys(records)) await put(key, '{not json either');
  const loop = (name: string) => `${EXTERNAL_PREFIX}vpp/v2/interfaces/${name}`;
  await put(loop('loop1'), loopback('loop1', { ip_addresses: ['10.9.0.1/24'] }));
  await put(loop('loop2'), loopback('loop2', { ip_addresses: ['10.9.0.1/24'] }));
  await put(loop('loop1'), loopback('loop1', { vrf: 7, ip_addresses: ['10.9.1.1/24'] }));
  await put(loop('tap-vpp2'), loopback('tap-vpp2'));
  await put(
    `${EXTERNAL_PREFIX}vpp/v2/route/vrf/0/dst/10.77.0.0/16/gw/10.9.0.9`,
    '{"dst_network":"10.77.0.0/16","next_hop_addr":"10.9.0.9","outgoing_interface":"loop2"}',
  );
  await put(loop('loop2'), undefined);
  for (const key of Object.keys(records)) await put(key, undefined);
  await put(loop('tap-vpp2'), undefined);
  await agent.step('comparison with the store', () => undefined, 10_000);
  await agent.document('/controller/resync', { method: 'POST' });
  await agent.step('resync', () => undefined, 500);
  await agent.histories();
  await agent.document('/metrics', { large: true });
  await agent.finalState();
  await agent.stop();
}

/** The datastore is unavailable, loses a watch, drops changes. */
async function storeFaults(recording: Recording): Promise<void> {
  const plain = await makeMachine();
  const cluster = new FaultInjectingStore(plain.cluster);
  const machine: Machine = { ...plain, cluster };
  const agent = await started(recording, 'agent', {}, machine);
  await agent.step('out of reach', () => cluster.disconnect(), 10_000);
  await agent.document('/readiness');
  await attach(agent, web);
  await agent.step('node2 joins unheard', () => tellOfNode(plain, 'node2', second), 1000);
  await agent.step('in reach', () => cluster.reconnect(), 10_000);
  await agent.step('a watch is lost', () => cluster.loseWatches('compacted'), 5000);
  cluster.isDropped = () => true;
  await agent.step(
    'node3 joins, the change is dropped',
    () => tellOfNode(plain, 'node3', third),
    1000,
  );
  cluster.isDropped = undefined;
  await agent.step('compared', () => agent.pass(400_000, 20_000));
  await agent.histories();
  await agent.document('/metrics', { large: true });
  await agent.finalState();
  await agent.stop();
  cluster.disconnect();
  const blind = new RecordedAgent(machine, recording, 'without the store');
  await blind.start();
  await blind.step('the mirror is used', () => undefined, 8000);
  await blind.step('in reach', () => cluster.reconnect(), 10_000);
  await blind.histories(true);
  await blind.stop();
}

async function restarts(recording: Recording): Promise<void> {
  for (const useTAPInterfaces of [true, false]) {
    const options = { contiv: { useTAPInterfaces } };
    const brief = { ...options, isBrief: true };
    const mode = useTAPInterfaces ? 'TAP' : 'VETH';
    const first = await started(recording, `${mode}, first`, brief);
    const { machine } = first;
    await first.step('node2 joins', () => tellOfNode(machine, 'node2', second), 500);
    await reflectPod(machine, web, await attach(first, web));
    await attach(first, other);
    await first.stop();

    const again = await started(recording, `${mode}, second`, options, machine);
    await again.addPod(web);
    await again.histories(!useTAPInterfaces);
    await again.stop();

    machine.vpp.crash();
    await machine.vpp.start();
    machine.linux.removeNamespace(other.netns);
    const empty = await started(
      recording,
      `${mode}, VPP is new, a pod is deleted`,
      options,
      machine,
    );
    await empty.deletePod(other);
    await empty.histories(true);
    await empty.stop();

    machine.linux.reboot();
    machine.vpp.crash();
    await machine.vpp.start();
    const booted = await started(recording, `${mode}, the machine is new`, brief, machine);
    await attach(booted, webAgain);
    await booted.histories(true);
    await booted.stop();

    machine.vpp.faults.add(1, { refuse: -1 }, ({ name }) => name.startsWith('ip_route_add_del'));
    await new RecordedAgent(machine, recording, `${mode}, undeploy refused`, options).undeploy();
    machine.vpp.faults.clear();
    const last = new RecordedAgent(machine, recording, `${mode}, undeploy`, options);
    await last.undeploy();
    await last.finalState([webAgain.netns]);

    const anew = await started(recording, `${mode}, after the undeploy`, brief, machine);
    await anew.histories(true);
    await anew.stop();
  }
}

async function verified(recording: Recording): Promise<void> {
  const agent = await started(recording, 'agent', {
    env: { KVSCHED_VERIFY_MODE: '1' },
    controller: { enableVerification: true },
  });
  const { machine } = agent;
  await attach(agent, web);
  await agent.step('node2 joins', () => tellOfNode(machine, 'node2', second), 500);
  await agent.step('drift before a change', async () => {
    await machine.linux.deleteAddress(undefined, 'vpp1', '172.30.1.2/24');
    await tellOfNode(machine, 'node3', third);
  });
  await agent.deletePod(web);
  await agent.histories(true);
  await agent.document('/controller/verification');
  await agent.stop();
}

async function questions(recording: Recording): Promise<void> {
  const agent = await started(recording, 'agent');
  const { machine } = agent;
  await agent.step('a minute passes', () => agent.pass(60_000, 5000));
  await attach(agent, web);
  await agent.step('a minute passes', () => agent.pass(60_000, 5000));
  await agent.step('node2 joins', () => tellOfNode(machine, 'node2', second), 60_000);
  await agent.deletePod(web);
  const interfaces = 'config/vpp/v2/interfaces';
  const typed = (value: object) => ({ type: 'ligato.vpp.interfaces.Interface', value });
  const loop1 = { name: 'loop1', type: 'SOFTWARE_LOOPBACK', enabled: true };
  const plans: unknown[] = [
    { mode: 'update', values: { [`${interfaces}/loop1`]: typed(loop1) } },
    { mode: 'update', values: { [`${interfaces}/podGwLoop`]: null } },
    {
      mode: 'update',
      values: { [`${interfaces}/tap-vpp2`]: null, [`${interfaces}/host-eth1`]: null },
    },
    {
      mode: 'update',
      values: { [`${interfaces}/host-eth1`]: typed({ ...loop1, name: 'host-eth1' }) },
    },
    { mode: 'resync', values: { [`${interfaces}/loop1`]: typed(loop1) } },
    { mode: 'resync', values: {} },
    { mode: 'update', values: { [`${interfaces}/loop1`]: typed({ name: 'else' }) } },
    { mode: 'update', values: { [`${interfaces}/loop1`]: { type: 'none', value: {} } } },
    { mode: 'update', values: { none: null } },
    { mode: 'other', values: {} },
    { values: 5 },
  ];
  for (const [index, body] of plans.entries())
    await agent.step(`plan ${index}`, () =>
      agent.document('/scheduler/plan', { method: 'POST', body, title: `plan ${index}` }),
    );
  const time = (minutes: number) => new Date(machine.clock.now() - minutes * 60_000).toISOString();
  const key = 'config/vpp/v2/interfaces/vxlan-default-2';
  const paths = [
    ...[0, 1.5, 2.5, 100].map(
      (minutes) => `/scheduler/key-timeline?key=${key}&time=${time(minutes)}`,
    ),
    `/scheduler/key-timeline?key=${key}`,
    '/scheduler/key-timeline?key=none',
    '/scheduler/key-timeline',
    `/scheduler/graph-snapshot?time=never`,
    `/scheduler/txn-history?since=${time(1.5)}`,
    `/scheduler/txn-history?until=${time(2.5)}`,
    '/scheduler/txn-history?seq-num=77',
    `/controller/event-history?since=${time(1.5)}&until=${time(0)}`,
    '/controller/event-history?from=1&to=2',
    '/controller/event-history?first=1',
    '/controller/event-history?last=2',
    '/scheduler/status?key-prefix=config/linux/',
    '/scheduler/dump?key-prefix=config/vpp/v2/interfaces/&view=NB',
    '/scheduler/flag-stats?flag=last-update&prefix=config/',
    '/scheduler/flag-stats?flag=unavailable',
    '/scheduler/flag-stats?flag=derived',
  ];
  for (const path of paths) await agent.step(path, () => agent.document(path));
  for (const minutes of [0.5, 1.5, 2.5, 100])
    for (const route of ['graph-snapshot', 'graph-snaphost']) {
      const path = `/scheduler/${route}?time=${time(minutes)}`;
      await agent.step(path, () => agent.document(path, { large: true }));
    }
  for (const number of [0, 1, 2, 99]) {
    const path = `/scheduler/graph?format=dot&txn=${number}`;
    await agent.step(path, () => agent.document(path, { large: true }));
  }
  const commands: [string, 'POST' | 'PUT', unknown?][] = [
    ['/scheduler/downstream-resync?retry=1&verbose=true', 'POST'],
    ['/scheduler/downstream-resync?retry=perhaps', 'POST'],
    ['/controller/resync', 'POST'],
    ['/vpp/command', 'POST', { vppclicommand: 'show version' }],
    ['/vpp/command', 'POST', { command: 'show version' }],
    ['/log/vpp/debug', 'PUT'],
    ['/log/vpp/loud', 'PUT'],
  ];
  for (const [path, method, body] of commands)
    await agent.step(`${method} ${path}`, () => agent.document(path, { method, body }), 500);
  await agent.histories();
  await agent.document('/log/list');
  await agent.stop();
}

async function otherConfigurations(recording: Recording): Promise<void> {
  const crd = await started(recording, 'NodeConfig', {
    contiv: { crdNodeConfigurationDisabled: false },
  });
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

export const scenarios: readonly Scenario[] = [
  { name: 'shop', run: shop },
  { name: 'pods-tap', run: (recording) => pods(recording, true) },
  { name: 'pods-veth', run: (recording) => pods(recording, false) },
  { name: 'nodes-vxlan', run: (recording) => nodes(recording, {}) },
  {
    name: 'nodes-without-overlay',
    run: (recording) => nodes(recording, { contiv: { nodeToNodeTransport: 'nooverlay' } }),
  },
  { name: 'ipv6', run: withIpv6 },
  { name: 'stolen-nic', run: stolenNic },
  { name: 'leases', run: leases },
  { name: 'other-configurations', run: otherConfigurations },
  { name: 'vpp-lost', run: vppLost },
  { name: 'drift', run: drift },
  { name: 'refusals', run: refusals },
  { name: 'malformed-records', run: malformed },
  { name: 'store-faults', run: storeFaults },
  { name: 'restarts', run: restarts },
  { name: 'verification', run: verified },
  { name: 'questions', run: questions },
  { name: 'vpp-examples', run: recordVppExamples },
  { name: 'linux-examples', run: recordLinuxExamples },
  ...families.map((family) => ({
    name: `random-${family.name.replaceAll(' ', '-')}`,
    run: (recording: Recording) => recordFamily(recording, family),
  })),
];
