/** Leftovers and values whose operation failed, and is repeated after what they refer to has changed. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import type { TransactionMode } from '#kvscheduler/api/transaction.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import { bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { keyedValue, loop, table } from '#test/descriptors/compliance/example-values.ts';
import { entries } from '#test/descriptors/compliance/shared-vpp-agent.ts';
import { until } from '#test/support/wait.ts';
import { simulatedVpp, type VppBackend } from './backends.ts';

const NONE = 0xffff_ffff;
const RETRY_MS = 100;

let backend: VppBackend;
let clock: ManualClock;
let scheduler: Scheduler;

beforeEach(async () => {
  backend = await simulatedVpp();
  clock = new ManualClock();
  scheduler = createScheduler({
    descriptors: backend.descriptors(),
    clock,
    log: silentLogger,
  });
});
afterEach(async () => {
  await scheduler?.close();
  await backend?.stop();
});

async function commit(
  mode: TransactionMode,
  values: readonly (readonly [string, object | null])[],
): Promise<readonly string[]> {
  const { failures } = await scheduler.commit({
    description: mode,
    mode,
    values: new Map(values),
    onFailure: 'best-effort',
    retry: { periodMs: RETRY_MS, maxAttempts: 3, exponential: false },
  });
  return failures.map(({ key }) => key);
}

/** A resync in which VPP refuses a change, by which a leftover is removed; then the retry. */
async function resyncAndRetry(
  key: string,
  values: readonly KeyedValue[],
  refused = 1,
): Promise<void> {
  backend.refuse(refused);
  assert.deepEqual(await commit('full-resync', entries(values)), [key]);
  await clock.advance(RETRY_MS);
  // Waits for the queued transactions.
  await scheduler.plan({ mode: 'update', values: new Map() });
  assert.deepEqual([...scheduler.failedValues()], []);
  assert.deepEqual((await scheduler.drift()).Differences, []);
}

async function indexOf(name: string): Promise<number> {
  const all = await backend.client.dump('sw_interface_dump', {
    sw_if_index: NONE,
    name_filter_valid: false,
    name_filter: '',
  });
  const found = all.find(({ tag }) => tag === name);
  assert.ok(found, name);
  return found.sw_if_index;
}

test('an interface that has joined its own bridge domain meanwhile stays in it', async () => {
  await commit('full-resync', entries([loop('loop1')]));
  const { bd_id } = await backend.client.request('bridge_domain_add_del_v2', {
    bd_id: NONE,
    ...{ flood: true, uu_flood: true, forward: true, learn: true, arp_term: false },
    ...{ arp_ufwd: false, mac_age: 0, bd_tag: '', is_add: true },
  });
  await backend.client.request('sw_interface_set_l2_bridge', {
    ...{ rx_sw_if_index: await indexOf('loop1'), bd_id, port_type: 0, shg: 0, enable: true },
  });
  const domain = keyedValue(bridgeDomainModel, { name: 'bd1', interfaces: [{ name: 'loop1' }] });
  const key = `leftover/vpp-bridge-domain/member/${bd_id}/loop1`;
  await resyncAndRetry(key, [loop('loop1'), domain]);
});

test('an interface that has got a DHCP client meanwhile stays in its table', async () => {
  await commit('full-resync', entries([loop('loop1'), table(7)]));
  const sw_if_index = await indexOf('loop1');
  const request = { sw_if_index, is_ipv6: false };
  await backend.client.request('sw_interface_set_table', { ...request, vrf_id: 7 });
  const key = 'leftover/vpp-interface/table/loop1/ipv4';
  await resyncAndRetry(key, [loop('loop1', { vrf: 7, set_dhcp_client: true }), table(7)]);
  const { vrf_id } = await backend.client.request('sw_interface_get_table', request);
  assert.equal(vrf_id, 7);
});

for (const address of [
  { ip_addresses: ['10.1.1.1/24'] },
  { unnumbered: { interface_with_ip: 'lender' } },
])
  test(`an interface that has got ${Object.keys(address)[0]} meanwhile stays in its table`, async () => {
    const lender = loop('lender', { vrf: 7, ip_addresses: ['10.1.2.1/24'] });
    await commit('full-resync', entries([loop('loop1'), lender, table(7)]));
    const request = { sw_if_index: await indexOf('loop1'), is_ipv6: false };
    await backend.client.request('sw_interface_set_table', { ...request, vrf_id: 7 });
    const key = 'leftover/vpp-interface/table/loop1/ipv4';
    await resyncAndRetry(key, [loop('loop1', { vrf: 7, ...address }), lender, table(7)]);
  });

test('an interface that does not exist any more can be deleted', async () => {
  await commit('full-resync', entries([loop('loop1', { vrf: 7 }), table(7)]));
  const sw_if_index = await indexOf('loop1');
  await backend.client.request('sw_interface_set_table', {
    sw_if_index,
    is_ipv6: false,
    vrf_id: 7,
  });
  await backend.client.request('sw_interface_tag_add_del', {
    ...{ is_add: true, sw_if_index, tag: 'loop1 by a crash' },
  });
  backend.cut(1);
  assert.deepEqual(await commit('downstream-resync', []), [
    'leftover/vpp-interface/table/loop1/ipv4',
    'leftover/vpp-interface/tag/loop1',
  ]);
  backend.cut(0);
  await backend.client.request('delete_loopback', { sw_if_index });
  assert.deepEqual(await commit('update', [[loop('loop1').key, null]]), []);
  assert.deepEqual([...scheduler.failedValues()], []);
});

test('an interface that borrows from another one meanwhile continues to borrow', async () => {
  const lender = (name: string, address: string) => loop(name, { ip_addresses: [address] });
  const borrower = (from: string) => loop('loop1', { unnumbered: { interface_with_ip: from } });
  const [first, second] = [lender('first', '10.1.1.1/24'), lender('second', '10.1.2.1/24')];
  await commit('full-resync', entries([borrower('first'), second, first]));
  await backend.client.request('delete_loopback', { sw_if_index: await indexOf('first') });
  const key = 'leftover/vpp-interface/borrower/loop1';
  await resyncAndRetry(key, [borrower('second'), second]);
});

test('an interface that has only ended its borrowing leaves its table, too', async () => {
  const lender = loop('lender', { vrf: 7, ip_addresses: ['10.1.1.1/24'] });
  const borrower = loop('loop1', { vrf: 7, unnumbered: { interface_with_ip: 'lender' } });
  await commit('full-resync', entries([borrower, lender, table(7)]));
  await backend.client.request('delete_loopback', { sw_if_index: await indexOf('lender') });
  const key = 'leftover/vpp-interface/borrower/loop1';
  await resyncAndRetry(key, [loop('loop1'), table(7)], 2);
});

test('of a VPP that has ended are not removed in the next one', async () => {
  const { client, simulated } = backend;
  const names = ['bridged', 'moved', 'named'];
  await commit('full-resync', entries([...names.map((name) => loop(name)), table(7)]));
  await damage(await Promise.all(names.map(indexOf)));
  backend.cut(1);
  const failed = await commit('downstream-resync', []);
  assert.deepEqual(failed, [
    'leftover/vpp-bridge-domain/member/5/bridged',
    'leftover/vpp-interface/table/moved/ipv4',
    'leftover/vpp-interface/tag/named',
  ]);
  const { generation } = client;
  simulated!.crash();
  await simulated!.start();
  await until('VPP is connected again', () => client.generation > generation);
  // an operator has interfaces with the same indexes
  const indexes: number[] = [];
  for (const _ of names) {
    const created = await client.request('create_loopback', { mac_address: new Uint8Array(6) });
    indexes.push(created.sw_if_index);
  }
  await client.request('ip_table_add_del', {
    table: { table_id: 7, is_ip6: false, name: '' },
    is_add: true,
  });
  await damage(indexes);
  const before = await backend.state();
  backend.cut(0);
  await clock.advance(RETRY_MS);
  // Waits for the queued transactions.
  await scheduler.plan({ mode: 'update', values: new Map() });
  assert.deepEqual([...backend.requested], []);
  assert.deepEqual([...scheduler.failedValues()], []);
  assert.deepEqual(await backend.state(), before);
});

for (const value of [null, loop('loop1', { mtu: 1400 }).value])
  test(`a failed ${value ? 'change' : 'deletion'} of an interface is not repeated in the next VPP`, async () => {
    const { client, simulated } = backend;
    await commit('full-resync', entries([loop('loop1', { ip_addresses: ['10.1.1.1/24'] })]));
    backend.refuse(1);
    assert.equal((await commit('update', [[loop('loop1').key, value]])).length, 1);
    const { generation } = client;
    simulated!.crash();
    await simulated!.start();
    await until('VPP is connected again', () => client.generation > generation);
    await client.request('create_loopback', { mac_address: new Uint8Array(6) });
    backend.refuse(0);
    await clock.advance(RETRY_MS);
    // Waits for the queued transactions.
    await scheduler.plan({ mode: 'update', values: new Map() });
    assert.deepEqual([...backend.requested], []);
    assert.deepEqual(await commit('downstream-resync', []), []);
    assert.deepEqual([...scheduler.failedValues()], []);
    assert.deepEqual((await scheduler.drift()).Differences, []);
  });

/** Puts an interface into a bridge domain, moves one to table 7, and gives one a tag. */
async function damage(indexes: readonly number[]): Promise<void> {
  const { client } = backend;
  const [bridged = NONE, moved = NONE, named = NONE] = indexes;
  await client.request('bridge_domain_add_del_v2', {
    bd_id: 5,
    ...{ flood: true, uu_flood: true, forward: true, learn: true, arp_term: false },
    ...{ arp_ufwd: false, mac_age: 0, bd_tag: '', is_add: true },
  });
  await client.request('sw_interface_set_l2_bridge', {
    ...{ rx_sw_if_index: bridged, bd_id: 5, port_type: 0, shg: 0, enable: true },
  });
  await client.request('sw_interface_set_table', {
    ...{ sw_if_index: moved, is_ipv6: false, vrf_id: 7 },
  });
  await client.request('sw_interface_tag_add_del', {
    ...{ is_add: true, sw_if_index: named, tag: 'named by a crash' },
  });
}
