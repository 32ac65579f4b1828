/**
 * VPP with everything that a crash or an operator can leave behind: no read changes it, the drift names each
 * object, and a resync whose plan shows each puts it right.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import { dnat44Model } from '#models/vpp/dnat44.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { nat44GlobalModel } from '#models/vpp/nat44-global.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import type { VppBackend } from '#test/vpp/descriptors/backends.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import type { ManagedKeys } from '#vpp/descriptors/managed-keys.ts';
import { keyedValue, loop, table } from './example-values.ts';
import { entries } from './shared-vpp-agent.ts';

const NONE = 0xffff_ffff;

/** Records whose writes are counted. */
class CountedKeys implements ManagedKeys {
  writes = 0;
  readonly #keys = new Map<string, string>();

  load = async () => undefined;
  /** Only the agent makes an interface with this name. */
  has = (key: string) => key.endsWith('/bridged') || this.#keys.has(key);
  recorded = () => this.#keys;
  add = async (keys: ReadonlyMap<string, string>) => {
    if (keys.size > 0) this.writes++;
    for (const [key, identity] of keys) this.#keys.set(key, identity);
  };
  delete = (keys: readonly string[]) => {
    if (keys.length > 0) this.writes++;
    for (const key of keys) this.#keys.delete(key);
  };
  reportUnmanaged = () => undefined;

  /** Another agent has lost its store. */
  lose(): void {
    this.#keys.clear();
  }
}

const rest: readonly KeyedValue[] = [
  loop('borrower', { vrf: 7, enabled: true, unnumbered: { interface_with_ip: 'lender' } }),
  loop('moved', { enabled: true }),
  loop('named', { enabled: true, ip_addresses: ['10.1.3.1/24'] }),
  loop('bridged', { enabled: true, ip_addresses: ['10.1.4.1/24'] }),
  table(7),
  keyedValue(nat44GlobalModel, { forwarding: true }),
];
const lost: readonly KeyedValue[] = [
  loop('lender', { vrf: 7, enabled: true, ip_addresses: ['10.1.1.1/24'] }),
  keyedValue(vppRouteModel, {
    vrf_id: 7,
    dst_network: '10.9.0.0/16',
    next_hop_addr: '10.1.1.9',
    outgoing_interface: 'lender',
  }),
  keyedValue(dnat44Model, {
    label: 'default/web',
    st_mappings: [
      {
        external_interface: 'lender',
        external_port: 80,
        protocol: 'TCP',
        local_ips: [{ local_ip: '10.1.5.2', local_port: 8080 }],
      },
    ],
  }),
];
/** Values that `damage` concerns. */
export const damagedValues: readonly KeyedValue[] = [...rest, ...lost];

const tap = keyedValue(vppInterfaceModel, { name: 'tap1', type: 'TAP', tap: { version: 2 } });

export function readsSuite(start: () => Promise<VppBackend>): void {
  describe('reads', () => {
    let backend: VppBackend;
    let scheduler: Scheduler;
    const keys = new CountedKeys();
    /** Names of the TAPs whose links were deleted. */
    const withoutLinks = new Set<string>();
    let values: readonly KeyedValue[];

    const commit = async (
      mode: 'full-resync' | 'downstream-resync' | 'update',
      desired: readonly (readonly [string, object | null])[],
    ) => {
      const { seqNum, failures } = await scheduler.commit({
        description: mode,
        mode,
        values: new Map(desired),
        onFailure: 'best-effort',
      });
      assert.deepEqual(
        failures.map(({ key, error }) => `${key}: ${error.message}`),
        [],
      );
      return scheduler.record(seqNum);
    };
    const differences = async () => {
      const { Differences, Unread } = await scheduler.drift();
      assert.deepEqual(Unread, []);
      return Differences.map(({ Difference, Key }) => `${Difference} ${Key}`);
    };

    before(async () => {
      backend = await start();
      const has = backend.withoutTaps ? [] : [tap];
      values = [...damagedValues, ...has];
      const lostTapLinks = { has: (_readBack: object, name: string) => withoutLinks.has(name) };
      scheduler = createScheduler({
        descriptors: backend.descriptorsWith({ lostTapLinks, managedKeys: keys }),
        clock: systemClock,
        log: silentLogger,
        verify: true,
      });
      await commit('full-resync', entries(values));
      assert.deepEqual(await differences(), []);
    });
    after(async () => {
      await scheduler?.close();
      await backend?.stop();
    });

    test('change nothing, show what is wrong, and the next resync puts it right', async () => {
      await damage(backend.client);
      if (!backend.withoutTaps) withoutLinks.add('tap1');
      keys.lose();
      const { writes } = keys;

      // Whatever changes VPP is refused from here on.
      backend.cut(1);
      const shown = await differences();
      // A dump of one descriptor knows the interfaces of before, and VPP refuses some reads of a deleted one.
      for (const { name, retrieve } of scheduler.descriptors)
        if (retrieve) await scheduler.dump('SB', { descriptor: name }).catch(() => undefined);
      assert.deepEqual(await differences(), shown);
      assert.deepEqual([...backend.requested], []);
      assert.equal(keys.writes, writes);
      backend.cut(0);
      const wrong = shown.filter((one) => /^(leftover|broken) /.test(one));
      assert.deepEqual(
        wrong.map((one) =>
          one.replaceAll(/\d+\/80/g, 'INDEX/80').replace(/member\/\d+/, 'member/N'),
        ),
        [
          ...(backend.withoutTaps ? [] : ['broken config/vpp/v2/interfaces/tap1']),
          'leftover leftover/vpp-bridge-domain/member/N/bridged',
          'leftover leftover/vpp-interface/borrower/borrower',
          'leftover leftover/vpp-interface/records',
          'leftover leftover/vpp-interface/table/moved/ipv4',
          'leftover leftover/vpp-interface/tag/named',
          'leftover leftover/vpp-nat44-dnat/mapping/INDEX/80/TCP/default/web',
          'leftover leftover/vpp-route/paths/7/IPV4',
          'leftover leftover/vpp-vrf-table/records',
        ],
      );
      // An update reads its own values back afterwards, and nothing else.
      await commit('update', entries([loop('other')]));
      assert.ok(backend.requested.includes('create_loopback'));
      assert.ok(!backend.requested.includes('sw_interface_set_table'));
      await commit('update', [[loop('other').key, null]]);

      const record = await commit('downstream-resync', []);
      const planned = new Set(record?.Planned?.map(({ Key }) => Key));
      for (const one of shown) assert.ok(planned.has(one.split(' ')[1] ?? ''), one);
      withoutLinks.clear();
      assert.deepEqual(await differences(), []);
      backend.cut(0);
      assert.equal((await commit('downstream-resync', []))?.Executed, undefined);
      assert.deepEqual([...backend.requested], []);
    });
  });
}

/** Leaves behind in VPP what a crash or an operator can leave, beside `damagedValues`. */
export async function damage(client: VppClient): Promise<void> {
  const all = await client.dump('sw_interface_dump', {
    sw_if_index: NONE,
    name_filter_valid: false,
    name_filter: '',
  });
  const indexOf = (name: string): number => {
    const found = all.find(({ tag }) => tag === name);
    assert.ok(found, name);
    return found.sw_if_index;
  };
  await client.request('sw_interface_set_table', {
    sw_if_index: indexOf('moved'),
    is_ipv6: false,
    vrf_id: 7,
  });
  await client.request('sw_interface_tag_add_del', {
    is_add: true,
    sw_if_index: indexOf('named'),
    tag: 'named by a crash',
  });
  const { bd_id } = await client.request('bridge_domain_add_del_v2', {
    bd_id: NONE,
    ...{ flood: true, uu_flood: true, forward: true, learn: true, arp_term: false },
    ...{ arp_ufwd: false, mac_age: 0, bd_tag: '', is_add: true },
  });
  await client.request('sw_interface_set_l2_bridge', {
    rx_sw_if_index: indexOf('bridged'),
    bd_id,
    port_type: 0,
    shg: 0,
    enable: true,
  });
  await client.request('delete_loopback', { sw_if_index: indexOf('lender') });
}
