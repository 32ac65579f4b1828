/** STN rules and redirects. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ipRedirectModel } from '#models/vpp/ip-redirect.ts';
import { stnRuleModel } from '#models/vpp/stn-rule.ts';
import type { VppBackend } from '#test/vpp/descriptors/backends.ts';
import { fromAddress } from '#vpp/binapi/addresses.ts';
import { keyedValue, loop } from './example-values.ts';
import { RecordedAgent, toMap } from './recorded-agent.ts';

const ALL = 0xffff_ffff;

export function puntSuite(start: () => Promise<VppBackend>): void {
  describe('redirects', () => {
    const bench = new RecordedAgent(start);

    test('an STN rule moves to another interface in one transaction', async () => {
      const rule = (iface: string) =>
        keyedValue(stnRuleModel, { ip_address: '192.168.16.1', interface: iface });
      await bench.apply(loop('a'), loop('b'), rule('a'));
      await bench.agent.update(new Map([[rule('a').key, null], ...toMap([rule('b')])]));
      await bench.agent.assertSettled();
      const rules = await bench.client.dump('stn_rules_dump', {});
      assert.deepEqual(
        rules.map(({ ip_address }) => fromAddress(ip_address)),
        ['192.168.16.1'],
      );
    });

    test('a redirect moves to another interface, and of ALL one half is completed', async () => {
      const to = (tx_interface: string) =>
        keyedValue(ipRedirectModel, { l3_protocol: 'ALL', tx_interface });
      await bench.apply(loop('a'), loop('b'), to('a'));
      await bench.agent.update(new Map([[to('a').key, null], ...toMap([to('b')])]));
      await bench.agent.assertSettled();
      const redirects = (af: number) =>
        bench.client.dump('ip_punt_redirect_v2_dump', { sw_if_index: ALL, af });
      const punt = { rx_sw_if_index: ALL, af: 1, paths: [] };
      await bench.client.request('add_del_ip_punt_redirect_v2', { is_add: false, punt });
      await bench.agent.reconcile();
      assert.equal((await redirects(0)).length, 1);
      assert.equal((await redirects(1)).length, 1);
      await bench.agent.assertSettled();
    });
  });
}
