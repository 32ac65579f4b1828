/** Objects with names that an operator has made stay; those that the agent has made are removed. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import { aclModel } from '#models/vpp/acl.ts';
import { bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { dnat44Model } from '#models/vpp/dnat44.ts';
import { nat44GlobalModel } from '#models/vpp/nat44-global.ts';
import { isAgentKey } from '#plugins/ipv4net/agent-keys.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { permitAll } from '#test/vpp/descriptors/messages.ts';
import { toAddress, toMac, toPrefix } from '#vpp/binapi/addresses.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import { vppDescriptors } from '#vpp/descriptors/vpp-descriptors.ts';
import { ObjectRecords } from '#vpp/object-records.ts';
import { keyedValue, loop, table } from './example-values.ts';
import { hostLinkStub } from './host-link-stub.ts';
import type { SharedVpp } from './shared-vpp-agent.ts';
import { vppState } from './vpp-state.ts';

const ALL = 0xffff_ffff;

/** An agent on the VPP with this store. */
class TestAgent {
  readonly scheduler: Scheduler;

  constructor(client: VppClient, store: MemoryStore) {
    const needs = { client, clock: systemClock, log: silentLogger };
    const managedKeys = new ObjectRecords({ store, isAgentKey, log: silentLogger });
    const descriptors = [...vppDescriptors({ ...needs, managedKeys }), hostLinkStub];
    this.scheduler = createScheduler({ descriptors, clock: systemClock, log: silentLogger });
  }

  async resync(values: readonly KeyedValue[]): Promise<void> {
    await this.#commit('full-resync', new Map(values.map(({ key, value }) => [key, value])));
  }

  async update(values: readonly (readonly [string, object | null])[]): Promise<void> {
    await this.#commit('update', new Map(values));
  }

  async #commit(
    mode: 'full-resync' | 'update',
    values: ReadonlyMap<string, object | null>,
  ): Promise<void> {
    const request = { description: mode, mode, values, onFailure: 'best-effort' } as const;
    const { failures } = await this.scheduler.commit(request);
    assert.deepEqual(
      failures.map(({ key, error }) => `${key}: ${error.message}`),
      [],
    );
  }
}

/** Always desired, so that the operator's mappings can exist. */
const base = [keyedValue(nat44GlobalModel, { forwarding: true })];

function mapping(label: string, external_ip: string): KeyedValue {
  const local_ips = [{ local_ip: '10.1.1.2', local_port: 8080 }];
  const st_mappings = [{ external_ip, external_port: 80, protocol: 'TCP' as const, local_ips }];
  return keyedValue(dnat44Model, {
    label,
    st_mappings,
    id_mappings: [{ ip_address: external_ip, port: 53, protocol: 'UDP' }],
  });
}

function acl(name: string, iface: string): KeyedValue {
  const rules = [{ action: 'PERMIT' as const, ip_rule: { ip: { source_network: '10.1.1.0/24' } } }];
  return keyedValue(aclModel, { name, rules, interfaces: { ingress: [iface] } });
}

/** Values of external configuration, whose names show nothing. */
const external = [
  table(600),
  loop('loop1', { enabled: true, ip_addresses: ['10.1.1.1/24'] }),
  loop('loop2'),
  loop(`a-name-that-no-tag-holds-${'x'.repeat(50)}`),
  keyedValue(bridgeDomainModel, { name: 'bd1', interfaces: [{ name: 'loop2' }] }),
  acl('acl1', 'loop1'),
  mapping('dnat1', '10.96.0.1'),
  mapping(`dnat-${'y'.repeat(70)}`, '10.96.0.2'),
];

/** Values with the names of the agent, and of the original. */
const named = [
  loop('vxlanBVI'),
  loop('podGwLoop', { ip_addresses: ['10.1.2.1/24'] }),
  keyedValue(bridgeDomainModel, {
    name: 'vxlanBD',
    interfaces: [{ name: 'vxlanBVI', bridged_virtual_interface: true }],
  }),
  acl('contiv-policy-REFLECTION', 'podGwLoop'),
  mapping('default/web', '10.96.0.3'),
  mapping(`kube-system/${'z'.repeat(63)}`, '10.96.0.4'),
  mapping('DNAT-identities', '10.96.0.5'),
];

async function taggedLoopback(client: VppClient, tag: string): Promise<number> {
  const mac_address = new Uint8Array(6);
  const { sw_if_index } = await client.request('create_loopback', { mac_address });
  await client.request('sw_interface_tag_add_del', { is_add: true, sw_if_index, tag });
  return sw_if_index;
}

async function bridge(client: VppClient, bd_tag: string, member: number): Promise<number> {
  const switches = { flood: true, uu_flood: true, forward: true, learn: true, arp_term: false };
  const { bd_id } = await client.request('bridge_domain_add_del_v2', {
    ...{ bd_id: ALL, ...switches, arp_ufwd: false, mac_age: 0, bd_tag, is_add: true },
  });
  await client.request('sw_interface_set_l2_bridge', {
    ...{ rx_sw_if_index: member, bd_id, port_type: 0, shg: 0, enable: true },
  });
  return bd_id;
}

/** One object of each kind that has a name, and what may refer to it. */
async function makeOperatorObjects(client: VppClient): Promise<void> {
  const routed = await taggedLoopback(client, 'operator-loop');
  const prefix = toPrefix('172.30.0.1/24');
  const address = { sw_if_index: routed, is_add: true, del_all: false, prefix };
  await client.request('sw_interface_add_del_address', address);
  await client.request('ip_neighbor_add_del', {
    is_add: true,
    neighbor: {
      sw_if_index: routed,
      flags: 1,
      mac_address: toMac('02:00:00:00:00:78'),
      ip_address: toAddress('172.30.0.2'),
    },
  });
  await client.request('nat44_interface_add_del_feature', {
    ...{ is_add: true, flags: 0x20, sw_if_index: routed },
  });
  const { acl_index } = await client.request('acl_add_replace', {
    ...{ acl_index: ALL, tag: 'operator-acl', r: [permitAll] },
  });
  const list = { sw_if_index: routed, n_input: 1, acls: [acl_index] };
  await client.request('acl_interface_set_acl_list', list);

  const member = await taggedLoopback(client, 'operator-member');
  const bd_id = await bridge(client, 'operator-bd', member);
  const mac = toMac('02:00:00:00:00:99');
  const entry = { mac, bd_id, sw_if_index: member, static_mac: true, filter_mac: false };
  await client.request('l2fib_add_del', { ...entry, is_add: true, bvi_mac: false });

  const tunnel = await client.request('vxlan_add_del_tunnel_v3', {
    is_add: true,
    instance: ALL,
    src_address: toAddress('172.30.0.1'),
    dst_address: toAddress('172.30.0.9'),
    ...{ src_port: 0, dst_port: 0, mcast_sw_if_index: ALL },
    ...{ encap_vrf_id: 0, decap_next_index: ALL, vni: 99 },
  });
  const { sw_if_index } = tunnel;
  const tag = 'operator-tunnel';
  await client.request('sw_interface_tag_add_del', { is_add: true, sw_if_index, tag });

  const own = { table_id: 770, is_ip6: false, name: 'operator-table' };
  await client.request('ip_table_add_del', { is_add: true, table: own });
  const proxy = { table_id: 770, low: Uint8Array.of(9, 9, 9, 1), hi: Uint8Array.of(9, 9, 9, 9) };
  await client.request('proxy_arp_add_del', { is_add: true, proxy });

  await client.request('nat44_add_del_static_mapping_v2', {
    is_add: true,
    match_pool: false,
    flags: 4,
    pool_ip_address: new Uint8Array(4),
    local_ip_address: Uint8Array.of(10, 97, 0, 2),
    external_ip_address: Uint8Array.of(10, 96, 0, 10),
    ...{ protocol: 6, local_port: 8080, external_port: 80, external_sw_if_index: ALL, vrf_id: 0 },
    tag: 'operator-nat',
  });
  await client.request('nat44_add_del_identity_mapping', {
    is_add: true,
    flags: 0,
    ip_address: Uint8Array.of(10, 96, 0, 11),
    ...{ protocol: 6, port: 443, sw_if_index: ALL, vrf_id: 0 },
    tag: 'operator-identity',
  });
}

export function operatorObjectsSuite(start: () => Promise<SharedVpp>): void {
  describe('objects with names that an operator has made', () => {
    let vpp: SharedVpp;
    let theirs: unknown;
    const agents: TestAgent[] = [];
    const agent = (store = new MemoryStore()): TestAgent => {
      const made = new TestAgent(vpp.client, store);
      agents.push(made);
      return made;
    };
    const assertOnlyTheirs = async () => assert.deepEqual(await vppState(vpp.client), theirs);
    const recorded = async (store: MemoryStore) =>
      (await store.list('local/')).entries.map(({ key }) => key.replace('local/vpp/object/', ''));

    before(async () => {
      vpp = await start();
      await agent().resync(base);
      await makeOperatorObjects(vpp.client);
      theirs = await vppState(vpp.client);
    });
    after(async () => {
      for (const { scheduler } of agents) await scheduler.close();
      await vpp.stop();
    });

    test('stay, and their interfaces stay in them, over resyncs and restarts', async () => {
      const store = new MemoryStore();
      const first = agent(store);
      for (const values of [base, [...base, ...external, ...named], base]) {
        await first.resync(values);
        await first.scheduler.resyncDownstream({ verbose: false });
      }
      await assertOnlyTheirs();
      await agent(store).resync(base);
      await agent().resync(base);
      await assertOnlyTheirs();
    });

    test('stay when the agent removes its own objects, also after a restart', async () => {
      const store = new MemoryStore();
      await agent(store).resync([...base, ...external, ...named]);
      assert.deepEqual(await recorded(store), external.map(({ key }) => key).sort());
      await agent(store).resync(base);
      await assertOnlyTheirs();
      assert.deepEqual(await recorded(store), []);
    });

    test('stay when it removes its own objects after its store was lost, or after a takeover', async () => {
      await agent().resync([...base, ...external, ...named]);
      const store = new MemoryStore();
      const second = agent(store);
      // desired objects are recorded when they are found
      await second.resync([...base, ...external]);
      assert.deepEqual(await recorded(store), external.map(({ key }) => key).sort());
      await agent(store).resync(base);
      await assertOnlyTheirs();
    });

    test('cannot be distinguished from external values that were removed after the store was lost', async () => {
      await agent().resync([...base, loop('loop1')]);
      await agent().resync(base);
      // nothing tells this loopback from one of an operator
      const names = (
        await vpp.client.dump('sw_interface_dump', {
          ...{ sw_if_index: ALL, name_filter_valid: false, name_filter: '' },
        })
      ).map(({ tag }) => tag);
      assert.ok(names.includes('loop1'));
      const last = agent();
      await last.resync([...base, loop('loop1')]);
      await last.resync(base);
      await assertOnlyTheirs();
    });

    test('a value under the key of another name is removed with its object', async () => {
      const store = new MemoryStore();
      const one = agent(store);
      const { key } = loop('loop1');
      await one.resync([...base, { key, value: loop('loop2').value }]);
      assert.deepEqual(await recorded(store), [loop('loop2').key]);
      await agent(store).resync(base);
      await assertOnlyTheirs();
    });

    test('a deleted value has no record, an update none more', async () => {
      const store = new MemoryStore();
      const one = agent(store);
      await one.resync(base);
      const { key, value } = loop('loop1');
      await one.update([[key, value]]);
      await one.update([[key, loop('loop1', { enabled: true }).value]]);
      assert.deepEqual(await recorded(store), [key]);
      await one.update([[key, null]]);
      await one.scheduler.resyncDownstream({ verbose: false });
      assert.deepEqual(await recorded(store), []);
      await assertOnlyTheirs();
    });

    test('an interface of the agent that an operator has tagged gets its tag back', async () => {
      const one = agent();
      const gateway = loop('podGwLoop', { enabled: true, ip_addresses: ['10.1.2.1/24'] });
      await one.resync([...base, gateway]);
      const before = await vppState(vpp.client);
      const all = { sw_if_index: ALL, name_filter_valid: false, name_filter: '' };
      const found = await vpp.client.dump('sw_interface_dump', all);
      const { sw_if_index } = found.find(({ tag }) => tag === 'podGwLoop')!;
      const tag = 'operator-gateway';
      await vpp.client.request('sw_interface_tag_add_del', { is_add: true, sw_if_index, tag });
      await one.scheduler.resyncDownstream({ verbose: false });
      assert.deepEqual(await vppState(vpp.client), before);
      await one.resync(base);
      await assertOnlyTheirs();
    });

    test('an interface of the agent is taken out of their bridge domain', async () => {
      const one = agent();
      const gateway = loop('podGwLoop', { enabled: true, ip_addresses: ['10.1.2.1/24'] });
      await one.resync([...base, gateway]);
      const before = await vppState(vpp.client);
      const all = { sw_if_index: ALL, name_filter_valid: false, name_filter: '' };
      const found = await vpp.client.dump('sw_interface_dump', all);
      const rx_sw_if_index = found.find(({ tag }) => tag === 'podGwLoop')!.sw_if_index;
      const domains = await vpp.client.dump('bridge_domain_dump', { sw_if_index: ALL, bd_id: ALL });
      const { bd_id } = domains.find(({ bd_tag }) => bd_tag === 'operator-bd')!;
      await vpp.client.request('sw_interface_set_l2_bridge', {
        ...{ rx_sw_if_index, bd_id, port_type: 0, shg: 0, enable: true },
      });
      await one.scheduler.resyncDownstream({ verbose: false });
      assert.deepEqual(await vppState(vpp.client), before);
      await one.resync(base);
      await assertOnlyTheirs();
    });

    test('an interface that was refused as a second BVI is in no bridge domain, and routes', async () => {
      const one = agent();
      const gateway = loop('podGwLoop', { enabled: true, ip_addresses: ['10.1.2.1/24'] });
      const domain = (...names: string[]) =>
        keyedValue(bridgeDomainModel, {
          name: 'bd',
          interfaces: names.map((name) => ({ name, bridged_virtual_interface: true })),
        });
      await one.resync([...base, gateway, domain()]);
      const before = await vppState(vpp.client);
      const domains = await vpp.client.dump('bridge_domain_dump', { sw_if_index: ALL, bd_id: ALL });
      const { bd_id } = domains.find(({ bd_tag }) => bd_tag === 'bd')!;
      const rx_sw_if_index = await taggedLoopback(vpp.client, 'operator-bvi');
      const theirs = { rx_sw_if_index, bd_id, port_type: 1, shg: 0 };
      await vpp.client.request('sw_interface_set_l2_bridge', { ...theirs, enable: true });
      const { key, value } = domain('podGwLoop');
      const refused = await one.scheduler.commit({
        ...{ description: 'second BVI', mode: 'update', onFailure: 'best-effort' },
        values: new Map([[key, value]]),
      });
      assert.equal(refused.failures.length, 1);
      await vpp.client.request('sw_interface_set_l2_bridge', { ...theirs, enable: false });
      await vpp.client.request('delete_loopback', { sw_if_index: rx_sw_if_index });
      const all = { sw_if_index: ALL, name_filter_valid: false, name_filter: '' };
      const found = await vpp.client.dump('sw_interface_dump', all);
      const { sw_if_index } = found.find(({ tag }) => tag === 'podGwLoop')!;
      const isBridged = vpp.client.request('l2fib_add_del', {
        ...{ mac: toMac('02:00:00:00:00:79'), bd_id, sw_if_index, is_add: true },
        ...{ static_mac: true, filter_mac: false, bvi_mac: false },
      });
      await assert.rejects(isBridged, /-2\b/);
      assert.deepEqual(await vppState(vpp.client), before);
      await one.resync(base);
      await assertOnlyTheirs();
    });

    test('a name of 16 bytes is known with the garbage that VPP may append', async () => {
      const store = new MemoryStore();
      const name = 'x'.repeat(16);
      await agent(store).resync([...base, loop(name)]);
      const all = { sw_if_index: ALL, name_filter_valid: false, name_filter: '' };
      const found = await vpp.client.dump('sw_interface_dump', all);
      const { sw_if_index } = found.find(({ tag }) => tag === name)!;
      const tag = `${name}garbage`;
      await vpp.client.request('sw_interface_tag_add_del', { is_add: true, sw_if_index, tag });
      await agent(store).resync(base);
      await assertOnlyTheirs();
    });
  });
}
