/**
 * Names of all lengths are read back by an agent that starts, whatever VPP makes of their tags, and no
 * interface is created again.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import { fnv1a32 } from '#models/fnv.ts';
import type { InterfaceType } from '#models/vpp/interface.gen.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import type { SkipReason } from '#test/support/requirements.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import { readBack } from './driver.ts';
import { keyedValue, loop } from './example-values.ts';
import { hostLink } from './host-link-stub.ts';
import { entries, type SharedVpp, SharedVppAgent } from './shared-vpp-agent.ts';

const NONE = 0xffff_ffff;
const LONGEST_TAG = 63;
const lengths = Array.from({ length: LONGEST_TAG }, (_, index) => index + 1);

/** A name of a length that no other length begins with. */
function nameOf(length: number): string {
  return `${String.fromCodePoint(0x21 + length)}${'n'.repeat(length - 1)}`.replace('/', 'x');
}

/** The fields by which a type of interface differs, for the n-th interface of the type. */
type Fields = (n: number, link: string) => object;

const types: Readonly<Partial<Record<InterfaceType, Fields>>> = {
  SOFTWARE_LOOPBACK: () => ({}),
  TAP: () => ({ tap: { version: 2 } }),
  AF_PACKET: (_, link) => ({ afpacket: { host_if_name: link } }),
  VXLAN_TUNNEL: (n) => ({ vxlan: { src_address: '10.9.0.1', dst_address: '10.9.0.2', vni: n } }),
  MEMIF: (n) => ({ memif: { id: n, master: true, socket_filename: 'abstract:contiv-names' } }),
  SUB_INTERFACE: (n) => ({ sub: { parent_name: 'parent', sub_id: n } }),
};

/** Types of which VPP accepts only one on the link of the test. */
const single: readonly string[] = ['AF_PACKET'];

export function nameSuite(
  start: () => Promise<SharedVpp>,
  { withoutTaps = false }: { readonly withoutTaps?: SkipReason } = {},
): void {
  describe('names of interfaces', () => {
    const owner = new SharedVppAgent(start);

    const assertFound = async (values: readonly KeyedValue[]) => {
      const before = await tagsByIndex(owner.client);
      await owner.assertReadsBack(values);
      // an agent that starts finds nothing else, and has nothing to correct
      const found = await readBack(owner.descriptors(), values);
      assert.deepEqual(found.leftovers, []);
      const keys = [...found.values.keys()].filter((key) =>
        key.startsWith(vppInterfaceModel.keyPrefix),
      );
      assert.deepEqual(keys.sort(), values.map(({ key }) => key).sort());
      assert.deepEqual(await tagsByIndex(owner.client), before);
    };

    for (const [type, fieldsOf] of Object.entries(types) as [InterfaceType, Fields][]) {
      const skip = type === 'TAP' && withoutTaps;
      test(`of type ${type} have any length from 1 to ${LONGEST_TAG}`, { skip }, async () => {
        const parent = loop('parent', { enabled: true });
        const setup = type === 'SUB_INTERFACE' ? [parent] : [];
        const values = lengths.map((length) =>
          keyedValue(vppInterfaceModel, {
            name: nameOf(length),
            type,
            ...fieldsOf(length, owner.hostLink),
          }),
        );
        const links = entries([hostLink(owner.hostLink)]);
        const groups = single.includes(type) ? values.map((one) => [one]) : [values];
        for (const group of groups) {
          await owner.commit('full-resync', [...links, ...entries([...setup, ...group])]);
          await assertFound([...setup, ...group]);
        }
      });
    }

    test('of TAPs whose creator crashed before it set the tag again', {
      skip: withoutTaps,
    }, async () => {
      const names = [15, 16, 17, 32, 48, 63].map(nameOf);
      const values = names.map((name) =>
        keyedValue(vppInterfaceModel, { name, type: 'TAP', tap: { version: 2 } }),
      );
      for (const name of names) await createTap(owner.client, name);
      const before = [...(await tagsByIndex(owner.client)).keys()];
      await owner.assertReadsBack(values);
      await owner.commit('full-resync', entries(values));
      const after = await tagsByIndex(owner.client);
      assert.deepEqual([...after.keys()], before);
      const tags = [...after.values()].filter((tag) => tag !== '');
      assert.deepEqual(tags.sort(), names.sort());
      await owner.commit('full-resync', entries(values));
      assert.deepEqual([...(await tagsByIndex(owner.client)).keys()], before);
    });
  });
}

async function tagsByIndex(client: VppClient): Promise<ReadonlyMap<number, string>> {
  const all = await client.dump('sw_interface_dump', {
    sw_if_index: NONE,
    name_filter_valid: false,
    name_filter: '',
  });
  return new Map(all.map(({ sw_if_index, tag }) => [sw_if_index, tag]));
}

/** Only the first message of a create. */
async function createTap(client: VppClient, name: string): Promise<void> {
  await client.request('tap_create_v3', {
    id: NONE,
    use_random_mac: true,
    host_if_name_set: true,
    host_if_name: `tap-${fnv1a32(name)}`,
    rx_ring_sz: 256,
    tx_ring_sz: 256,
    host_mtu_set: false,
    host_mtu_size: 0,
    host_mac_addr_set: false,
    host_ip4_prefix_set: false,
    host_ip6_prefix_set: false,
    host_ip4_gw_set: false,
    host_ip6_gw_set: false,
    host_namespace_set: false,
    host_namespace: '',
    host_bridge_set: false,
    host_bridge: '',
    mac_address: new Uint8Array(6),
    host_mac_addr: new Uint8Array(6),
    host_ip4_prefix: { address: new Uint8Array(4), len: 0 },
    host_ip6_prefix: { address: new Uint8Array(16), len: 0 },
    host_ip4_gw: new Uint8Array(4),
    host_ip6_gw: new Uint8Array(16),
    tap_flags: 0,
    tag: name,
  });
}
