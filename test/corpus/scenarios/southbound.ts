/** Losses, manual changes and refusals of VPP and Linux. */
import { seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { tellOfNode } from '#test/cmd/agent/scenario.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { codeOf, makeMachine } from '../record.ts';
import type { Recording } from '../recording.ts';
import {
  attach,
  EXTERNAL_PREFIX,
  heal,
  KUBE_PREFIX,
  late,
  other,
  second,
  started,
  web,
  webAgain,
} from './support.ts';

export async function vppLost(recording: Recording): Promise<void> {
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
export async function drift(recording: Recording): Promise<void> {
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
export async function refusals(recording: Recording): Promise<void> {
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

export async function malformed(recording: Recording): Promise<void> {
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
