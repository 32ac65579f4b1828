/** A node with pods on TAPs, through the scheduler, on a simulated VPP and kernel. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { TransactionMode } from '#kvscheduler/api/transaction.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import type { NamespaceState } from '#linux/api.ts';
import { LostTapLinks } from '#linux/descriptors/interface/lost-tap-links.ts';
import { linuxDescriptors } from '#linux/descriptors/linux-descriptors.ts';
import { type RunningSim, startSim } from '#test/vpp/descriptors/simulated-vpp.ts';
import { vppDescriptors } from '#vpp/descriptors/vpp-descriptors.ts';
import { vppState } from './compliance/vpp-state.ts';
import { base, tapPod, type Values, vethPod } from './node-values.ts';

const pods = ['/run/netns/pod1', '/run/netns/pod2'] as const;

describe('a node with pods on TAPs', () => {
  let sim: RunningSim;
  let scheduler: Scheduler;

  const newScheduler = (): Scheduler => {
    const { client, linux } = sim;
    const lostTapLinks = new LostTapLinks();
    return createScheduler({
      descriptors: [
        ...vppDescriptors({ client, clock: systemClock, log: silentLogger, lostTapLinks }),
        ...linuxDescriptors({ host: linux, label: 'node1', log: silentLogger, lostTapLinks }),
      ],
      clock: systemClock,
      log: silentLogger,
    });
  };
  const run = (mode: TransactionMode, values: ReadonlyMap<string, object | null>) =>
    scheduler.commit({ description: mode, mode, values, onFailure: 'best-effort' });
  /** @returns operations as `CREATE key`, all of which must have succeeded */
  const commit = async (
    mode: TransactionMode,
    values: ReadonlyMap<string, object | null> = new Map(),
  ): Promise<string[]> => {
    const { seqNum, failures } = await run(mode, values);
    assert.deepEqual(
      failures.map(({ key, error }) => `${key}: ${error.message}`),
      [],
    );
    const record = scheduler.record(seqNum);
    assert.deepEqual(record?.RetrieveErrors ?? [], []);
    return (record?.Executed ?? [])
      .filter((each) => each.IsProperty !== true && each.NOOP !== true)
      .map((each) => `${each.Operation} ${each.Key}`);
  };
  const pending = (): string[] =>
    scheduler
      .statuses()
      .filter(({ value }) => value.state === 'PENDING')
      .map(({ value }) => value.key);
  const everything = (): Values =>
    new Map([...base(), ...tapPod(1, pods[0]), ...vethPod(2, pods[1])]);
  const inPods = async (): Promise<NamespaceState[]> =>
    Promise.all(pods.map((p) => sim.linux.dump(p)));

  beforeEach(async () => {
    sim = await startSim();
    for (const path of pods) sim.linux.addNamespace(path);
    scheduler = newScheduler();
  });
  afterEach(async () => {
    await scheduler.close();
    await sim.stop();
  });

  test('everything is applied, and a second resync does nothing', async () => {
    await commit('full-resync', everything());
    assert.deepEqual(pending(), []);
    assert.deepEqual(await commit('full-resync', everything()), []);
    assert.deepEqual(await commit('downstream-resync'), []);
  });

  test('pods that come by updates end as those that come by a resync', async () => {
    await commit('full-resync', base());
    await commit('update', tapPod(1, pods[0]));
    await commit('update', vethPod(2, pods[1]));
    assert.deepEqual(await commit('full-resync', everything()), []);
  });

  test('the agent alone restarts: nothing is touched', async () => {
    await commit('full-resync', everything());
    await scheduler.close();
    scheduler = newScheduler();
    sim.vpp.requests.length = 0;
    assert.deepEqual(await commit('full-resync', everything()), []);
    const changes = sim.vpp.requests.filter(
      ({ kind, name }) => kind === 'request' && !/_get|_show_|_is_enabled/.test(name),
    );
    assert.deepEqual(
      changes.map(({ name }) => name),
      [],
    );
  });

  test('VPP alone restarts: everything is restored, including the pods’ TAPs', async () => {
    await commit('full-resync', everything());
    const before = await inPods();
    sim.vpp.crash();
    await sim.vpp.start();
    await sim.client.whenConnected();
    await commit('downstream-resync');
    assert.deepEqual(pending(), []);
    assert.deepEqual(await commit('downstream-resync'), []);
    const comparable = (states: readonly NamespaceState[]) =>
      states.map(({ links, ...rest }) => ({
        ...rest,
        links: links.map(({ name, mac, mtu, up, addresses }) => ({
          name,
          mac,
          mtu,
          up,
          addresses,
        })),
      }));
    assert.deepEqual(comparable(await inPods()), comparable(before));
  });

  test('a start that has to recreate a TAP of VPP moves the new link into the pod', async () => {
    await commit('full-resync', everything());
    const before = await inPods();
    await scheduler.close();
    const { client } = sim;
    const all = await client.dump('sw_interface_dump', {
      sw_if_index: 0xffff_ffff,
      name_filter_valid: false,
      name_filter: '',
    });
    const tap = all.find(({ interface_dev_type }) => interface_dev_type === 'tap')!;
    const { sw_if_index } = tap;
    await client.request('sw_interface_tag_add_del', { is_add: true, sw_if_index, tag: 'begun' });
    scheduler = newScheduler();
    await commit('full-resync', everything());
    assert.deepEqual(pending(), []);
    assert.deepEqual(await commit('downstream-resync'), []);
    const links = (states: readonly NamespaceState[]) =>
      states.map((state) => state.links.map(({ name, mac, addresses }) => [name, mac, addresses]));
    assert.deepEqual(links(await inPods()), links(before));
    assert.deepEqual(
      (await inPods()).map(({ routes }) => routes),
      before.map(({ routes }) => routes),
    );
  });

  test('a TAP whose link was deleted from the pod is created again', async () => {
    await commit('full-resync', everything());
    const before = await inPods();
    await sim.linux.deleteLink(pods[0], 'eth0');
    await commit('downstream-resync');
    assert.deepEqual(pending(), []);
    assert.deepEqual(await commit('downstream-resync'), []);
    const names = (states: readonly NamespaceState[]) =>
      states.map(({ links, routes, neighbors }) => ({
        links: links.map(({ name, mac, mtu, up, addresses }) => [name, mac, mtu, up, addresses]),
        routes,
        neighbors,
      }));
    assert.deepEqual(names(await inPods()), names(before));
    const taps = await sim.client.dump('sw_interface_tap_v2_dump', { sw_if_index: 0xffff_ffff });
    assert.equal(taps.length, 1);
  });

  test('a TAP whose link has an unknown mark, or none, is created again', async () => {
    await commit('full-resync', everything());
    await sim.linux.setLink(pods[0], 'eth0', { alias: 'mine' });
    await commit('downstream-resync');
    assert.deepEqual(pending(), []);
    assert.deepEqual(await commit('downstream-resync'), []);
  });

  test('a dump of the routes shows those of now', async () => {
    await commit('full-resync', everything());
    const shown = async () =>
      (await scheduler.dump('SB', { descriptor: 'linux-route' })).filter(({ Key }) =>
        Key.includes('0.0.0.0/0'),
      ).length;
    assert.equal(await shown(), 2);
    const [route] = (await sim.linux.dump(pods[0])).routes.filter(
      ({ destination }) => destination === '0.0.0.0/0',
    );
    await sim.linux.deleteRoute(pods[0], route!);
    assert.equal(await shown(), 1);
  });

  test('an interface that was put into an unmanaged bridge domain is taken out', async () => {
    await commit('full-resync', everything());
    const { client } = sim;
    const { bd_id } = await client.request('bridge_domain_add_del_v2', {
      bd_id: 0xffff_ffff,
      flood: true,
      uu_flood: true,
      forward: true,
      learn: true,
      arp_term: false,
      arp_ufwd: false,
      mac_age: 0,
      bd_tag: '',
      is_add: true,
    });
    const [tap] = await client.dump('sw_interface_tap_v2_dump', { sw_if_index: 0xffff_ffff });
    const port = { rx_sw_if_index: tap!.sw_if_index, bd_id, port_type: 0, shg: 0 };
    await client.request('sw_interface_set_l2_bridge', { ...port, enable: true });
    await commit('downstream-resync');
    const domains = await client.dump('bridge_domain_dump', { bd_id, sw_if_index: 0xffff_ffff });
    assert.deepEqual(
      domains.map(({ sw_if_details }) => sw_if_details.length),
      [0],
    );
  });

  test('deleting a pod whose namespace no longer exists succeeds', async () => {
    await commit('full-resync', everything());
    sim.linux.removeNamespace(pods[0]);
    sim.linux.removeNamespace(pods[1]);
    const gone = [...tapPod(1, pods[0]).keys(), ...vethPod(2, pods[1]).keys()];
    await commit('update', new Map(gone.map((key) => [key, null])));
    assert.deepEqual(await commit('full-resync', base()), []);
    const { links } = await sim.linux.dump(undefined);
    assert.deepEqual(
      links.map(({ name }) => name),
      ['lo'],
    );
  });

  test('an agent that wants nothing leaves nothing', async () => {
    // `lo` stays up: it has no mark
    const rest = async (): Promise<unknown> => {
      const states = await inPods();
      const links = states.map((state) => state.links.map(({ name }) => name));
      return { vpp: await vppState(sim.client), links };
    };
    const before = await rest();
    await commit('full-resync', everything());
    await scheduler.close();
    scheduler = newScheduler();
    await commit('full-resync', new Map());
    assert.deepEqual(await rest(), before);
  });
});
