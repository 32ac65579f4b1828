/** Some interfaces are read alone, as CHECK of CNI does: the replies do not grow with the number of others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { keyedValue, loop } from '#test/descriptors/compliance/example-values.ts';
import { entries } from '#test/descriptors/compliance/shared-vpp-agent.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import { tagOf } from '#vpp/descriptors/tags.ts';
import { vppDescriptors } from '#vpp/descriptors/vpp-descriptors.ts';
import { startSim } from './simulated-vpp.ts';

const podName = (at: number): string => `pod${at}`;

function pod(at: number): KeyedValue {
  return keyedValue(vppInterfaceModel, {
    name: podName(at),
    type: 'TAP',
    enabled: true,
    unnumbered: { interface_with_ip: 'gateway' },
    tap: { version: 2 },
  });
}

async function agentWith(own: readonly KeyedValue[]) {
  const sim = await startSim();
  let replies = 0;
  const client = new Proxy<VppClient>(sim.client, {
    get(target, name) {
      if (name !== 'dump') {
        const own: unknown = Reflect.get(target, name);
        return typeof own === 'function' ? own.bind(target) : own;
      }
      return async (...args: Parameters<VppClient['dump']>) => {
        const found = await target.dump(...args);
        replies += found.length;
        return found;
      };
    },
  });
  const scheduler = createScheduler({
    descriptors: vppDescriptors({ client, clock: systemClock, log: silentLogger }),
    clock: systemClock,
    log: silentLogger,
  });
  const gateway = loop('gateway', { enabled: true, ip_addresses: ['10.1.1.1/24'] });
  const vlan = keyedValue(vppInterfaceModel, {
    name: 'vlan',
    type: 'SUB_INTERFACE',
    enabled: true,
    sub: { parent_name: 'gateway', sub_id: 7 },
  });
  const values = [gateway, vlan, ...own];
  const { failures } = await scheduler.commit({
    description: 'test',
    mode: 'full-resync',
    values: new Map(entries(values)),
    onFailure: 'best-effort',
  });
  assert.deepEqual(failures, []);
  /** Differences of some interfaces, and the replies of VPP. */
  const drift = async (...names: string[]) => {
    replies = 0;
    const keys = names.map((name) => vppInterfaceModel.keyPrefix + name);
    const { Differences, Unread } = await scheduler.drift(new Set(keys));
    assert.deepEqual(Unread, []);
    const differences = Differences.map(({ Key, Difference }) => `${Key} ${Difference}`);
    return { differences, replies };
  };
  const find = async (name: string) => {
    const request = { sw_if_index: 0xffff_ffff, name_filter_valid: false, name_filter: '' };
    const all = await sim.client.dump('sw_interface_dump', request);
    return all.find(({ tag }) => tag === tagOf(name))!.sw_if_index;
  };
  return { sim, drift, find };
}

test('VPP replies as much among many interfaces as among few', async () => {
  const costs: number[] = [];
  for (const pods of [3, 30]) {
    const { drift } = await agentWith(Array.from({ length: pods }, (_, at) => pod(at)));
    const { differences, replies } = await drift('pod1', 'vlan');
    assert.deepEqual(differences, []);
    costs.push(replies);
  }
  assert.equal(costs[0], costs[1]);
});

test('an interface that is not where it was is found, or missing', async () => {
  const loops = ['a', 'b', 'c'].map((name) => loop(name, { enabled: true }));
  const { sim, drift, find } = await agentWith(loops);
  const [before, other] = [await find('a'), await find('b')];
  // an operator exchanges the names
  for (const [sw_if_index, tag] of [
    [before, 'b'],
    [other, 'a'],
  ] as const)
    await sim.client.request('sw_interface_tag_add_del', { is_add: true, sw_if_index, tag });
  assert.deepEqual((await drift('a')).differences, []);
  const differenceOfA = async () =>
    (await drift('a')).differences.filter((one) => one.includes('/interfaces/'));
  await sim.client.request('sw_interface_set_flags', { sw_if_index: other, flags: 0 });
  assert.deepEqual(await differenceOfA(), ['config/vpp/v2/interfaces/a different']);
  await sim.client.request('delete_loopback', { sw_if_index: other });
  assert.deepEqual(await differenceOfA(), ['config/vpp/v2/interfaces/a missing']);
  assert.deepEqual((await drift('c')).differences, []);
});
