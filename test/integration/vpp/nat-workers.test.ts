/** NAT44 of a real VPP with two worker threads, of which one translates. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dnat44Model } from '#models/vpp/dnat44.ts';
import { nat44GlobalModel } from '#models/vpp/nat44-global.ts';
import { keyedValue } from '#test/descriptors/compliance/example-values.ts';
import { RecordedAgent } from '#test/descriptors/compliance/recorded-agent.ts';
import { declareUnless, withoutIsolatedVpp } from '#test/support/requirements.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';
import { backendOver } from '#test/vpp/descriptors/backends.ts';
import { VppProcess } from '../support/vpp-process.ts';

const WORKERS = 2;

const nat = keyedValue(nat44GlobalModel, { forwarding: true });
const service = keyedValue(dnat44Model, {
  label: 'default/web',
  st_mappings: [
    {
      external_ip: '10.96.0.1',
      external_port: 80,
      local_ips: [2, 3].map((last) => ({
        local_ip: `10.1.1.${last}`,
        local_port: 8080,
        probability: 2,
      })),
    },
  ],
});

await declareUnless(withoutIsolatedVpp(), 'NAT44 of a VPP with two workers', () => {
  const bench = new RecordedAgent(async () => {
    const folder = temporaryFolder('vpp');
    const vpp = new VppProcess({ prefix: ['unshare', '--net'], folder, workers: WORKERS });
    await vpp.start();
    const client = await vpp.client();
    const stop = async (): Promise<void> => {
      await client.close();
      await vpp.remove();
    };
    return backendOver('VPP', client, stop, {});
  });

  const workers = async (): Promise<readonly number[]> => {
    const found = await bench.client.dump('nat_worker_dump', {});
    return found.map(({ worker_index }) => worker_index);
  };

  test('is done by the first', async () => {
    assert.deepEqual(await workers(), [0, 1]);
    await bench.apply(nat, service);
    assert.deepEqual(await workers(), [0]);
    assert.deepEqual(await bench.restart(nat, service), []);
  });

  test('is brought back to the first, with new mappings', async () => {
    await bench.apply(nat, service);
    await bench.client.request('nat_set_workers', { worker_mask: 3n });
    await bench.restart(nat, service);
    assert.deepEqual(await workers(), [0]);
    const changes = bench.taken();
    assert.equal(changes.filter((name) => name === 'nat44_add_del_lb_static_mapping').length, 2);
    assert.deepEqual(await bench.restart(nat, service), []);
  });

  test('is done by the first where NAT44 was enabled on both before the agent', async () => {
    await bench.client.request('nat_set_workers', { worker_mask: 3n });
    await bench.client.request('nat44_ed_plugin_enable_disable', {
      inside_vrf: 0,
      outside_vrf: 0,
      sessions: 0,
      session_memory: 0,
      enable: true,
      flags: 1,
    });
    await bench.put(nat, service);
    assert.deepEqual(await workers(), [0]);
    await bench.agent.assertSettled();
  });
});
