/** Policers that differ from their values, and unmanaged ones. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bandwidthLimitModel } from '#models/vpp/bandwidth-limit.ts';
import type { VppBackend } from '#test/vpp/descriptors/backends.ts';
import { keyedValue, loop } from './example-values.ts';
import { RecordedAgent } from './recorded-agent.ts';
import { policedInterfaces, policers } from './vpp-state.ts';

const ALL = 0xffff_ffff;

export function bandwidthSuite(start: () => Promise<VppBackend>): void {
  describe('bandwidth limits', () => {
    const bench = new RecordedAgent(start);
    const limit = (direction: 'INPUT' | 'OUTPUT', rate_kbps: number, iface = 'limited') =>
      keyedValue(bandwidthLimitModel, {
        interface: iface,
        direction,
        rate_kbps,
        burst_bytes: 262_144,
      });
    const both = [limit('INPUT', 10_000), limit('OUTPUT', 20_000)];
    const setPolicer = (name: string, is_add: boolean) =>
      bench.client.request('policer_add_del', {
        is_add,
        name,
        cir: 1_000,
        eir: 0,
        cb: 100_000n,
        eb: 0n,
        rate_type: 0,
        round_type: 0,
        type: 0,
        color_aware: false,
        conform_action: { type: 1, dscp: 0 },
        exceed_action: { type: 0, dscp: 0 },
        violate_action: { type: 0, dscp: 0 },
      });
    const indexOf = async (tag: string): Promise<number> => {
      const named = { name_filter_valid: false, name_filter: '' };
      const all = await bench.client.dump('sw_interface_dump', { sw_if_index: ALL, ...named });
      return all.find((one) => one.tag === tag)!.sw_if_index;
    };

    test('unmanaged policers stay', async () => {
      await setPolicer('theirs', true);
      await bench.apply(loop('limited'), ...both);
      await bench.agent.resync(new Map());
      assert.deepEqual(
        (await policers(bench.client)).map(({ name }) => name),
        ['theirs'],
      );
      await setPolicer('theirs', false);
    });

    test('a policer that was taken off its interface is applied again', async () => {
      await bench.apply(loop('limited'), ...both);
      const sw_if_index = await indexOf('limited');
      const before = await policedInterfaces(bench.client, [{ sw_if_index }]);
      assert.equal(before.length, 2);
      await bench.client.request('policer_output', {
        name: 'contiv/OUTPUT/limited',
        sw_if_index,
        apply: false,
      });
      await bench.agent.reconcile();
      assert.deepEqual(await policedInterfaces(bench.client, [{ sw_if_index }]), before);
      await bench.agent.assertSettled();
    });

    test('a policer that was deleted is created again, and applied once', async () => {
      await bench.apply(loop('limited'), ...both);
      await setPolicer('contiv/OUTPUT/limited', false);
      await bench.agent.reconcile();
      const sw_if_index = await indexOf('limited');
      const off = { name: 'contiv/OUTPUT/limited', sw_if_index, apply: false };
      await bench.client.request('policer_output', off);
      const left = await policedInterfaces(bench.client, [{ sw_if_index }]);
      assert.deepEqual(
        left.map(({ node }) => node),
        ['policer-input'],
      );
      await bench.agent.reconcile();
      await bench.agent.assertSettled();
    });

    test('policers whose interface was deleted past the agent are removed', async () => {
      await bench.apply(loop('limited'), ...both, loop('other'), limit('INPUT', 5_000, 'other'));
      const sw_if_index = await indexOf('limited');
      await bench.client.request('delete_loopback', { sw_if_index });
      await bench.restart(loop('other'), limit('INPUT', 5_000, 'other'));
      assert.deepEqual(
        (await policers(bench.client)).map(({ name }) => name),
        ['contiv/INPUT/other'],
      );
      await bench.put(loop('limited'), ...both);
      await bench.agent.assertSettled();
    });
  });
}
