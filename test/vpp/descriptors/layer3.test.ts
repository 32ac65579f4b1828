import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VppClient } from '#vpp/binapi/api.ts';
import { readLayer3, tableOf } from '#vpp/descriptors/interface/layer3.ts';
import { startSim } from './simulated-vpp.ts';

const network = { v4: '0a000001', v6: 'fd000000000000000000000000000001' } as const;

test('the table of an interface is asked for only for families that it has addresses of', async () => {
  const sim = await startSim();
  const asked: boolean[] = [];
  const client = new Proxy<VppClient>(sim.client, {
    get(target, name) {
      if (name !== 'request') return Reflect.get(target, name).bind(target);
      return (message: string, fields: { is_ipv6: boolean }) => {
        assert.equal(message, 'sw_interface_get_table');
        asked.push(fields.is_ipv6);
        return sim.client.request('sw_interface_get_table', fields as never);
      };
    },
  });
  const mac_address = new Uint8Array(6);
  const { sw_if_index } = await sim.client.request('create_loopback', { mac_address });
  const read = async (dhcpClient = false) => {
    asked.length = 0;
    return readLayer3(client, sw_if_index, dhcpClient);
  };
  for (const [is_ipv6, table_id] of [
    [false, 4],
    [true, 6],
  ] as const) {
    const table = { table_id, is_ip6: is_ipv6, name: '' };
    await sim.client.request('ip_table_add_del', { is_add: true, table });
    await sim.client.request('sw_interface_set_table', { sw_if_index, is_ipv6, vrf_id: table_id });
  }
  const wanted = (vrf: number) => ({ vrf }) as never;
  const none = await read();
  assert.deepEqual([none.addresses, asked], [[], []]);
  assert.deepEqual([tableOf(none, wanted(9)), tableOf(none, undefined)], [9, 0]);
  const leased = await read(true);
  assert.deepEqual([asked, tableOf(leased, wanted(9))], [[false], 4]);
  for (const [address, af, len] of [
    [network.v6, 1, 64],
    [network.v4, 0, 24],
  ] as const) {
    const un = new Uint8Array(16);
    un.set(Buffer.from(address, 'hex'));
    await sim.client.request('sw_interface_add_del_address', {
      sw_if_index,
      is_add: true,
      del_all: false,
      prefix: { address: { af, un }, len },
    });
    if (af === 0) continue;
    const six = await read();
    assert.deepEqual([asked, tableOf(six, wanted(9)), tableOf(six, wanted(6))], [[true], 6, 6]);
  }
  const both = await read();
  assert.deepEqual([asked, both.addresses.length], [[false, true], 2]);
  // whichever of the two is not as wanted
  assert.deepEqual([tableOf(both, wanted(6)), tableOf(both, wanted(4))], [4, 6]);
  await sim.stop();
});
