/**
 * A node as ipv4net configures it, through the scheduler, on a real VPP and the kernel: two pods
 * wired by veth pairs, VRFs, and packets that go through.
 */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { TransactionMode } from '#eventloop/transaction.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { createScheduler, type Scheduler } from '#kvscheduler/scheduler.ts';
import type { MessageModel } from '#models/define.ts';
import { linuxArpModel } from '#models/linux/arp.ts';
import { linuxInterfaceModel } from '#models/linux/interface.ts';
import { linuxRouteModel } from '#models/linux/route.ts';
import type { DeepInput } from '#models/model.ts';
import { vppArpModel } from '#models/vpp/arp.ts';
import { bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { fibEntryModel } from '#models/vpp/fib-entry.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { ipScanNeighborModel } from '#models/vpp/ip-scan-neighbor.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { vrfTableModel } from '#models/vpp/vrf-table.ts';
import { linuxDescriptors } from '#southbound/linux/descriptors/linux-descriptors.ts';
import { kernelHost } from '#southbound/linux/host.ts';
import { vppDescriptors } from '#southbound/vpp/descriptors/vpp-descriptors.ts';
import { FaultyHost } from './compliance/faulty-host.ts';
import { vppWorld } from './compliance/vpp-world.ts';
import { kernelMissing } from './linux-kernel.ts';
import { noVppBecause, type RunningVpp, startVpp } from './vpp/vpp-process.ts';

const run = promisify(execFile);

type Values = Map<string, object>;

function add<T extends object>(values: Values, model: MessageModel<T>, input: DeepInput<T>): void {
  const value = model.canonical(input);
  values.set(model.key(value), value);
}

function mac(pod: number, end: number): string {
  return `02:fe:00:00:0${end}:0${pod}`;
}

function base(): Values {
  const values: Values = new Map();
  add(values, vrfTableModel, { id: 0, label: 'mainVRF-IPv4' });
  add(values, vrfTableModel, { id: 1, label: 'podVRF-IPv4' });
  add(values, ipScanNeighborModel, { mode: 'IPV4', scan_interval: 1, stale_threshold: 4 });
  add(values, vppInterfaceModel, {
    name: 'loopbackNIC',
    type: 'SOFTWARE_LOOPBACK',
    enabled: true,
    ip_addresses: ['192.168.16.1/24'],
  });
  add(values, vppInterfaceModel, {
    name: 'podGwLoop',
    type: 'SOFTWARE_LOOPBACK',
    enabled: true,
    vrf: 1,
    ip_addresses: ['10.1.1.1/24'],
  });
  add(values, vppInterfaceModel, {
    name: 'vxlanBVI',
    type: 'SOFTWARE_LOOPBACK',
    enabled: true,
    vrf: 1,
    phys_address: '12:2b:00:00:00:01',
    ip_addresses: ['192.168.30.1/24'],
  });
  add(values, vppInterfaceModel, {
    name: 'vxlan-default-2',
    type: 'VXLAN_TUNNEL',
    enabled: true,
    vxlan: { src_address: '192.168.16.1', dst_address: '192.168.16.2', vni: 10 },
  });
  add(values, bridgeDomainModel, {
    name: 'vxlanBD',
    forward: true,
    interfaces: [
      { name: 'vxlanBVI', bridged_virtual_interface: true, split_horizon_group: 1 },
      { name: 'vxlan-default-2', split_horizon_group: 1 },
    ],
  });
  add(values, fibEntryModel, {
    bridge_domain: 'vxlanBD',
    phys_address: '12:2b:00:00:00:02',
    outgoing_interface: 'vxlan-default-2',
    static_config: true,
  });
  add(values, vppArpModel, {
    interface: 'vxlanBVI',
    ip_address: '192.168.30.2',
    phys_address: '12:2b:00:00:00:02',
    static: true,
  });
  add(values, vppRouteModel, {
    vrf_id: 1,
    dst_network: '10.1.2.0/24',
    next_hop_addr: '192.168.30.2',
    outgoing_interface: 'vxlanBVI',
  });
  add(values, vppRouteModel, {
    type: 'INTER_VRF',
    dst_network: '10.1.0.0/16',
    next_hop_addr: '0.0.0.0',
    via_vrf_id: 1,
  });
  add(values, vppRouteModel, {
    type: 'INTER_VRF',
    vrf_id: 1,
    dst_network: '0.0.0.0/0',
    next_hop_addr: '0.0.0.0',
  });
  add(values, vppRouteModel, { type: 'DROP', vrf_id: 1, dst_network: '10.1.0.0/16' });
  return values;
}

/** @param namespace path */
function pod(number: number, namespace: string): Values {
  const values: Values = new Map();
  const [inside, outside] = [`veth1-${number}`, `veth2-${number}`];
  const ip = `10.1.1.${number + 1}`;
  const iface = `afpacketveth2-${number}`;
  add(values, linuxInterfaceModel, {
    name: inside,
    type: 'VETH',
    namespace: { type: 'FD', reference: namespace },
    host_if_name: 'eth0',
    enabled: true,
    phys_address: mac(number, 1),
    mtu: 1450,
    ip_addresses: [`${ip}/32`],
    veth: { peer_if_name: outside, tx_checksum_offloading: 'CHKSM_OFFLOAD_DISABLED' },
  });
  add(values, linuxInterfaceModel, {
    name: outside,
    type: 'VETH',
    enabled: true,
    mtu: 1450,
    veth: { peer_if_name: inside },
  });
  add(values, linuxInterfaceModel, {
    name: `linux-loop-${number}`,
    type: 'LOOPBACK',
    namespace: { type: 'FD', reference: namespace },
    enabled: true,
    ip_addresses: ['127.0.0.1/8'],
  });
  add(values, linuxArpModel, {
    interface: inside,
    ip_address: '10.1.1.1',
    hw_address: mac(number, 2),
  });
  add(values, linuxRouteModel, {
    outgoing_interface: inside,
    scope: 'LINK',
    dst_network: '10.1.1.1/32',
  });
  add(values, linuxRouteModel, {
    outgoing_interface: inside,
    scope: 'GLOBAL',
    dst_network: '0.0.0.0/0',
    gw_addr: '10.1.1.1',
  });
  add(values, vppInterfaceModel, {
    name: iface,
    type: 'AF_PACKET',
    enabled: true,
    vrf: 1,
    mtu: 1450,
    phys_address: mac(number, 2),
    unnumbered: { interface_with_ip: 'podGwLoop' },
    afpacket: { host_if_name: outside },
  });
  add(values, vppArpModel, {
    interface: iface,
    ip_address: ip,
    phys_address: mac(number, 1),
    static: true,
  });
  add(values, vppRouteModel, {
    vrf_id: 1,
    dst_network: `${ip}/32`,
    next_hop_addr: ip,
    outgoing_interface: iface,
  });
  return values;
}

const reason = noVppBecause() ?? (await kernelMissing());

describe('a node on VPP and the kernel', { skip: reason ?? false }, () => {
  let vpp: RunningVpp;
  const names = [1, 2].map((number) => `cvpod${process.pid}-${number}`);
  const pods = names.map((name) => `/run/netns/${name}`) as [string, string];
  let scheduler: Scheduler;

  const newScheduler = (): Scheduler => {
    const linux = new FaultyHost(kernelHost({ clock: systemClock }), vpp.namespace).host;
    return createScheduler({
      descriptors: [
        ...vppDescriptors({ client: vpp.client, clock: systemClock, log: silentLogger }),
        ...linuxDescriptors({ host: linux, label: 'node1', log: silentLogger }),
      ],
      clock: systemClock,
      log: silentLogger,
    });
  };

  /** @returns operations as `CREATE key`, all of which must have gone well */
  const commit = async (
    mode: TransactionMode,
    values: ReadonlyMap<string, object | null>,
  ): Promise<string[]> => {
    const { seqNum, failures } = await scheduler.commit({
      description: mode,
      mode,
      values,
      onFailure: 'best-effort',
    });
    assert.deepEqual(
      failures.map(({ key, error }) => `${key}: ${error.message}`),
      [],
    );
    const pending = [...values.keys()].filter(
      (key) => scheduler.status(key).value.state === 'PENDING',
    );
    assert.deepEqual(pending, []);
    const record = scheduler.record(seqNum);
    assert.deepEqual(record?.RetrieveErrors ?? [], []);
    return (record?.Executed ?? [])
      .filter((each) => each.IsProperty !== true && each.NOOP !== true)
      .map((each) => `${each.Operation} ${each.Key}`);
  };

  const ping = (from: string, to: string): Promise<unknown> =>
    run('nsenter', [`--net=${from}`, 'ping', '-c', '2', '-i', '0.2', '-W', '2', to]);

  before(async () => {
    for (const name of names) execFileSync('ip', ['netns', 'add', name]);
    vpp = await startVpp();
    scheduler = newScheduler();
  });
  after(async () => {
    await scheduler?.close();
    await vpp?.stop();
    for (const name of names) execFileSync('ip', ['netns', 'del', name]);
  });

  let empty: unknown;

  test('two pods are wired and reach the gateway and each other', async () => {
    empty = await vppWorld(vpp.client);
    await commit('full-resync', base());
    await commit('update', pod(1, pods[0]));
    await commit('update', pod(2, pods[1]));
    await ping(pods[0], '10.1.1.1');
    await ping(pods[0], '10.1.1.3');
    // through the pod VRF into the main one
    await ping(pods[1], '192.168.16.1');
  });

  const everything = (): Values => new Map([...base(), ...pod(1, pods[0]), ...pod(2, pods[1])]);

  test('a second resync does nothing, in this agent and in the next one', async () => {
    assert.deepEqual(await commit('full-resync', everything()), []);
    assert.deepEqual(await commit('downstream-resync', new Map()), []);
    await scheduler.close();
    scheduler = newScheduler();
    assert.deepEqual(await commit('full-resync', everything()), []);
    await ping(pods[0], '10.1.1.3');
  });

  test('what somebody took away comes back', async () => {
    const inside = (...args: string[]) => execFileSync('nsenter', [`--net=${pods[0]}`, ...args]);
    inside('ip', 'route', 'del', 'default');
    inside('ip', 'neigh', 'flush', 'nud', 'permanent', 'dev', 'eth0');
    inside('ip', 'link', 'set', 'eth0', 'mtu', '1400');
    const done = await commit('downstream-resync', new Map());
    assert.deepEqual(done.sort(), [
      'CREATE config/linux/l3/v2/arp/veth1-1/10.1.1.1',
      'CREATE config/linux/l3/v2/route/0.0.0.0/0/veth1-1',
      'UPDATE config/linux/interfaces/v2/interface/veth1-1',
    ]);
    await ping(pods[0], '10.1.1.3');
  });

  test('a pod whose namespace vanished goes without a failure, the other one stays', async () => {
    execFileSync('ip', ['netns', 'del', names[0] as string]);
    execFileSync('ip', ['netns', 'add', names[0] as string]);
    const gone = [...pod(1, pods[0]).keys()].map((key) => [key, null] as const);
    await commit('update', new Map(gone));
    await ping(pods[1], '10.1.1.1');
  });

  test('another pod takes the place of the first', async () => {
    await commit('update', pod(1, pods[0]));
    await ping(pods[0], '10.1.1.3');
  });

  test('an agent that wants nothing leaves nothing', async () => {
    await scheduler.close();
    scheduler = newScheduler();
    await commit('full-resync', new Map());
    const linux = kernelHost({ clock: systemClock });
    assert.deepEqual(await vppWorld(vpp.client), empty);
    const { links } = await linux.dump(vpp.namespace);
    assert.deepEqual(
      links.map(({ name }) => name),
      ['lo'],
    );
    const inPod = await linux.dump(pods[0]);
    assert.deepEqual(
      inPod.links.map(({ name }) => name),
      ['lo'],
    );
  });
});
