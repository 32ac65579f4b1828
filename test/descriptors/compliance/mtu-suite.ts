/** MTUs that were set past the agent. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { keyedValue, loop } from './example-values.ts';
import { entries, type SharedVpp, SharedVppAgent } from './shared-vpp-agent.ts';

const tunnel = (mtu: number) =>
  keyedValue(vppInterfaceModel, {
    name: 'vxlan-default-2',
    type: 'VXLAN_TUNNEL',
    enabled: true,
    mtu,
    vxlan: { src_address: '192.168.16.1', dst_address: '192.168.16.2', vni: 10 },
  });
const memif = keyedValue(vppInterfaceModel, {
  name: 'memif-1',
  type: 'MEMIF',
  enabled: true,
  memif: { master: true, id: 1, socket_filename: 'abstract:contiv-mtu' },
});

const examples = {
  'VXLAN tunnel': tunnel(0),
  'VXLAN tunnel with an MTU': tunnel(1400),
  memif,
  loopback: loop('a'),
  'loopback with an MTU': loop('b', { mtu: 1300 }),
};

export function mtuSuite(start: () => Promise<SharedVpp>): void {
  describe('an MTU that was set past the agent', () => {
    const shared = new SharedVppAgent(start);
    const details = async (name: string) => {
      const all = await shared.client.dump('sw_interface_dump', {
        sw_if_index: 0xffff_ffff,
        name_filter_valid: false,
        name_filter: '',
      });
      const { sw_if_index, link_mtu, mtu } = all.find(({ tag }) => tag === name)!;
      return { sw_if_index, link_mtu, mtu };
    };

    for (const [title, { key, value }] of Object.entries(examples))
      test(`is restored by a resync: ${title}`, async () => {
        const { name } = value as { readonly name: string };
        await shared.commit('full-resync', entries([{ key, value }]));
        const before = await details(name);
        const { sw_if_index } = before;
        const layer3 = { sw_if_index, mtu: [600, 0, 0, 0] };
        await shared.client.request('sw_interface_set_mtu', layer3);
        await shared.commit('full-resync', entries([{ key, value }]));
        assert.deepEqual(await details(name), before);
        // a loopback has no frame size
        if (title.startsWith('loopback')) return;
        // of the device: VPP sets that of layer 3 with it
        await shared.client.request('hw_interface_set_mtu', { sw_if_index, mtu: 1350 });
        assert.deepEqual((await details(name)).mtu[0], 1350);
        await shared.commit('full-resync', entries([{ key, value }]));
        assert.deepEqual((await details(name)).mtu, before.mtu);
      });
  });
}
