/** Probes of flows that VPP keeps, or has lost, and what an operator has configured. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { flowExporterModel } from '#models/vpp/flow-exporter.ts';
import { flowProbeModel } from '#models/vpp/flow-probe.ts';
import type { VppBackend } from '#test/vpp/descriptors/backends.ts';
import { toAddress } from '#vpp/binapi/addresses.ts';
import { isFeatureEnabled } from '#vpp/descriptors/interface/feature-state.ts';
import { keyedValue } from './example-values.ts';
import { flowExporter, probedMemif } from './flow-probe-examples.ts';
import { RecordedAgent } from './recorded-agent.ts';

const INPUT = { arc: 'device-input', node: 'flowprobe-input-l2', end: 'ethernet-input' };
const OUTPUT = {
  arc: 'interface-output',
  node: 'flowprobe-output-l2',
  end: 'interface-output-arc-end',
};

export function flowProbeSuite(start: () => Promise<VppBackend>): void {
  describe('probes of flows', () => {
    const bench = new RecordedAgent(start);
    const exporter = keyedValue(flowExporterModel, flowExporter);
    const probe = keyedValue(flowProbeModel, { interface: 'probed' });
    const all = [probedMemif, exporter, probe];

    const memifIndex = async (): Promise<number> => {
      const [found] = await bench.client.dump('memif_dump', {});
      return found!.sw_if_index;
    };
    const isProbed = async (): Promise<boolean> => {
      const index = await memifIndex();
      if (!bench.client.has('feature_is_enabled')) {
        // before v25.10
        const named = { name_filter_valid: false, name_filter: '' };
        const [memif] = await bench.client.dump('sw_interface_dump', {
          sw_if_index: index,
          ...named,
        });
        const cmd = `show interface features ${memif!.interface_name}`;
        const { reply } = await bench.client.request('cli_inband', { cmd });
        return [INPUT, OUTPUT].every(({ node }) => reply.includes(node));
      }
      const enabled = [INPUT, OUTPUT].map((one) => isFeatureEnabled(bench.client, index, one));
      return (await Promise.all(enabled)).every((one) => one);
    };
    const interval = async (): Promise<number> =>
      (await bench.client.dump('ipfix_exporter_dump', {}))[0]!.template_interval;

    test('an agent that restarts changes nothing', async () => {
      await bench.apply(...all);
      assert.ok(await isProbed());
      assert.deepEqual(await bench.restart(...all), []);
      assert.deepEqual(bench.taken(), []);
    });

    test('without probes VPP exports nothing, and the next one begins again', async () => {
      await bench.apply(...all);
      await bench.apply(probedMemif);
      assert.equal(await interval(), 0x7fff_ffff);
      assert.equal(await isProbed(), false);
      await bench.apply(...all);
      assert.equal(await interval(), 1);
      assert.ok(await isProbed());
    });

    test('a memif that was deleted past the agent, and one that gets its index', async () => {
      await bench.apply(...all);
      await bench.client.request('memif_delete', { sw_if_index: await memifIndex() });
      await bench.agent.reconcile();
      assert.ok(await isProbed());
      await bench.agent.assertSettled();
    });

    test('a probe of a deleted interface is not taken for one', async () => {
      await bench.apply(...all);
      const before = await memifIndex();
      await bench.client.request('memif_delete', { sw_if_index: before });
      await bench.restart(probedMemif);
      assert.equal(await memifIndex(), before);
      await bench.put(exporter, probe);
      assert.ok(await isProbed());
      await bench.agent.assertSettled();
    });

    /** To a collector of flows of VPP. */
    const exportAsOperator = () =>
      bench.client.request('set_ipfix_exporter', {
        collector_address: toAddress('192.0.2.9'),
        collector_port: 4739,
        src_address: toAddress('192.0.2.1'),
        vrf_id: 0xffff_ffff,
        path_mtu: 512,
        template_interval: 20,
        udp_checksum: false,
      });

    test('the exporter of an operator stays while no flow is to be counted', async () => {
      await bench.apply(probedMemif);
      await exportAsOperator();
      assert.deepEqual(await bench.restart(probedMemif), []);
      assert.equal(await interval(), 20);
    });

    test('an exporter that was changed past the agent is put right', async () => {
      await bench.apply(...all);
      await exportAsOperator();
      await bench.agent.reconcile();
      const [found] = await bench.client.dump('ipfix_exporter_dump', {});
      assert.equal(found!.collector_port, flowExporter.collector_port);
      await bench.agent.assertSettled();
    });
  });
}
