/** The link of a TAP goes before VPP is asked to delete the TAP, so that VPP does not wait for the kernel. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import { tapLinks } from '#linux/descriptors/tap-links.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppDescriptors } from '#vpp/descriptors/vpp-descriptors.ts';
import { type RunningSim, startSim } from './simulated-vpp.ts';

const POD = '/run/netns/pod1';
const NAME = 'tap-1';

function tap(host_namespace: string, rx_ring_size = 0) {
  const value = vppInterfaceModel.canonical({
    name: 'vpp-tap',
    type: 'TAP',
    enabled: true,
    tap: { host_if_name: NAME, host_namespace, rx_ring_size },
  });
  return { key: vppInterfaceModel.key(value), value };
}

describe('a TAP that is deleted', () => {
  let sim: RunningSim;
  let scheduler: Scheduler;
  /** Links of the pod when VPP was asked to delete a TAP. */
  let left: string[][] = [];
  const linksOf = async (namespace: string | undefined) =>
    (await sim.linux.dump(namespace)).links.map(({ name }) => name);
  const tapCount = async () =>
    (await sim.client.dump('sw_interface_tap_v2_dump', { sw_if_index: 0xffff_ffff })).length;
  const commit = async (values: ReadonlyMap<string, object | null>): Promise<void> => {
    const { failures } = await scheduler.commit({
      description: 'test',
      mode: 'update',
      values,
      onFailure: 'best-effort',
    });
    assert.deepEqual(failures, []);
  };

  beforeEach(async () => {
    sim = await startSim();
    left = [];
    await sim.linux.addNamespace(POD);
    const client = Object.create(sim.client, {
      request: {
        value: async (name: 'tap_delete_v2', fields: { sw_if_index: number }) => {
          if (name === 'tap_delete_v2') left.push(await linksOf(POD).catch(() => []));
          return sim.client.request(name, fields);
        },
      },
    }) as RunningSim['client'];
    scheduler = createScheduler({
      descriptors: vppDescriptors({
        client,
        clock: systemClock,
        log: silentLogger,
        namespaces: { sees: async () => true },
        tapLinks: tapLinks(sim.linux, silentLogger),
      }),
      clock: systemClock,
      log: silentLogger,
    });
  });
  afterEach(async () => {
    await scheduler.close();
    await sim.stop();
  });

  test('has no link any more', async () => {
    const { key, value } = tap(POD);
    await commit(new Map([[key, value]]));
    assert.deepEqual(await linksOf(POD), ['lo', NAME]);
    await commit(new Map([[key, null]]));
    assert.deepEqual(left, [['lo']]);
    assert.equal(await tapCount(), 0);
  });

  test('has the link of its successor when it was deleted for that', async () => {
    const { key, value } = tap(POD);
    await commit(new Map([[key, value]]));
    await commit(new Map([[key, tap(POD, 1024).value]]));
    assert.deepEqual(left, [['lo']]);
    assert.deepEqual(await linksOf(POD), ['lo', NAME]);
    assert.equal(await tapCount(), 1);
  });

  test('is deleted although its namespace has ended', async () => {
    const { key, value } = tap(POD);
    await commit(new Map([[key, value]]));
    sim.linux.removeNamespace(POD);
    await commit(new Map([[key, null]]));
    assert.equal(await tapCount(), 0);
  });

  test('keeps the link until VPP deletes it if VPP has made it in its own namespace', async () => {
    const { key, value } = tap('');
    await commit(new Map([[key, value]]));
    await commit(new Map([[key, null]]));
    assert.deepEqual(
      sim.linux.operations.filter(({ name }) => name === 'beginDeleteTap'),
      [],
    );
    assert.deepEqual(await linksOf(undefined), ['lo']);
  });

  test('leaves a link of another kind that has its name', async () => {
    const { key, value } = tap(POD);
    await commit(new Map([[key, value]]));
    await sim.linux.moveLink({ namespace: POD, name: NAME }, { namespace: POD, name: 'eth0' });
    await sim.linux.createVeth(
      { namespace: POD, name: NAME },
      { namespace: undefined, name: 'other' },
    );
    await commit(new Map([[key, null]]));
    assert.deepEqual(await linksOf(POD), ['lo', NAME]);
  });
});
