/**
 * An interface of VPP is deleted past the agent, with everything that refers to it: after a downstream
 * resync VPP is as it was before, and no route keeps a path that cannot forward.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import type { VppBackend } from '#test/vpp/descriptors/backends.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import type { SwInterfaceDetails } from '#vpp/binapi/messages.gen.ts';
import { normalizedVppState } from './normalized-vpp-state.ts';
import { entries } from './shared-vpp-agent.ts';
import type { Example } from './suite.ts';

const ALL = 0xffff_ffff;

export interface DeletedInterfaceBackend {
  readonly backend: VppBackend;
  /** Paths of routes through interfaces that were deleted. */
  deadPaths(): Promise<readonly string[]>;
}

export function deletedInterfaceSuite(
  start: () => Promise<DeletedInterfaceBackend>,
  examples: readonly Example[],
): void {
  describe('interfaces deleted past the agent', () => {
    let backend: VppBackend;
    let deadPaths: DeletedInterfaceBackend['deadPaths'];
    let scheduler: Scheduler;

    before(async () => {
      ({ backend, deadPaths } = await start());
    });
    after(() => backend?.stop());

    const commit = async (
      mode: 'full-resync' | 'downstream-resync',
      values: readonly (readonly [string, object])[] = [],
    ) => {
      const description = mode;
      const onFailure = 'best-effort';
      const transaction = { description, mode, values: new Map(values), onFailure } as const;
      const { failures } = await scheduler.commit(transaction);
      assert.deepEqual(
        failures.map(({ key, error }) => `${key}: ${error.message}`),
        [],
      );
    };

    for (const example of examples) {
      test(example.name, async (context) => {
        const { withoutTaps = false, client } = backend;
        if (example.requiresTaps && withoutTaps) return context.skip(withoutTaps);
        const descriptors = backend.descriptors();
        scheduler = createScheduler({ descriptors, clock: systemClock, log: silentLogger });
        context.after(async () => {
          await commit('full-resync');
          await scheduler.close();
        });
        await commit('full-resync', entries([...(example.setup ?? []), example.value]));
        const configured = await state(client);
        const names = (await managed(client)).map(({ tag }) => tag);
        // what is repaired once must be repairable again
        for (const name of names)
          for (const round of ['once', 'twice']) {
            const what = `${name} deleted ${round}`;
            await deleteInterface(client, name);
            await commit('downstream-resync');
            assert.deepEqual(await state(client), configured, what);
            assert.deepEqual(await deadPaths(), [], what);
          }
      });
    }
  });
}

async function managed(client: VppClient): Promise<readonly SwInterfaceDetails[]> {
  const all = await client.dump('sw_interface_dump', {
    sw_if_index: ALL,
    name_filter_valid: false,
    name_filter: '',
  });
  return all.filter(({ tag }) => tag !== '');
}

/** VPP chooses another MAC for each new interface that is created without one. */
async function state(client: VppClient): Promise<unknown> {
  const text = JSON.stringify(await normalizedVppState(client));
  return JSON.parse(text.replace(/"02fe(?!000000)[0-9a-f]{8}"/g, '"random"'));
}

async function deleteInterface(client: VppClient, name: string): Promise<void> {
  const found = (await managed(client)).find(({ tag }) => tag === name)!;
  const { sw_if_index, sup_sw_if_index, interface_dev_type } = found;
  if (sup_sw_if_index !== sw_if_index) {
    await client.request('delete_subif', { sw_if_index });
    return;
  }
  switch (interface_dev_type) {
    case 'Loopback':
      await client.request('delete_loopback', { sw_if_index });
      return;
    case 'tap':
    case 'virtio': // a TAP, before v26.02
      await client.request('tap_delete_v2', { sw_if_index });
      return;
    case 'memif':
      await client.request('memif_delete', { sw_if_index });
      return;
    case 'Wireguard Tunnel':
      await client.request('wireguard_interface_delete', { sw_if_index });
      return;
    case 'VXLAN': {
      const [tunnel] = await client.dump('vxlan_tunnel_v2_dump', { sw_if_index });
      const { sw_if_index: _, ...fields } = tunnel!;
      await client.request('vxlan_add_del_tunnel_v3', {
        ...fields,
        is_add: false,
        instance: ALL,
        mcast_sw_if_index: ALL,
      });
      return;
    }
    default: {
      const all = await client.dump('af_packet_dump', {});
      const bound = all.find((one) => one.sw_if_index === sw_if_index);
      assert.ok(bound, `no way to delete an interface of type ${interface_dev_type}`);
      await client.request('af_packet_delete', { host_if_name: bound.host_if_name });
    }
  }
}
