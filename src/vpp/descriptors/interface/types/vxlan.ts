import { checkField } from '#kvscheduler/api/check-field.ts';
import type { Dependency, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { parseIp } from '#models/ip.ts';
import { interfaceAddressKey } from '#models/vpp/derived.ts';
import { type VppInterface, vppInterfaceKey } from '#models/vpp/interface.ts';
import { vrfTableKey } from '#models/vpp/vrf-table.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { fromAddress, toAddress } from '../../../binapi/addresses.ts';
import type { VppClient } from '../../../binapi/api.ts';
import { NONE } from '../../limits.ts';
import type { InterfaceTypeHandler } from './handler.ts';

const MAX_VNI = 0xff_ffff;

function isV6(value: VppInterface): boolean {
  return value.vxlan?.dst_address.includes(':') === true;
}

function isMulticast(address: string): boolean {
  const bytes = parseIp(address);
  if (bytes === undefined) return false;
  const first = bytes[0] ?? 0;
  return bytes.length === 4 ? first >= 224 && first < 240 : first === 0xff;
}

function identity(src: string, dst: string, vni: number, vrf: number): string {
  return `vxlan/${src}/${dst}/${vni}/${vrf}`;
}

/** Creates or deletes a tunnel; both messages must contain all four parts of its identity. */
async function addOrDelete(
  client: VppClient,
  value: VppInterface,
  isAdd: boolean,
  multicastIndex: number,
): Promise<number> {
  const { sw_if_index } = await client.request('vxlan_add_del_tunnel_v3', {
    is_add: isAdd,
    instance: NONE,
    src_address: toAddress(value.vxlan?.src_address ?? ''),
    dst_address: toAddress(value.vxlan?.dst_address ?? ''),
    // 0 stands for 4789
    src_port: 0,
    dst_port: 0,
    mcast_sw_if_index: multicastIndex,
    encap_vrf_id: value.vrf,
    decap_next_index: NONE,
    vni: value.vxlan?.vni ?? 0,
  });
  return sw_if_index;
}

function multicastIndex(value: VppInterface, ctx: OperationContext): number {
  const name = value.vxlan?.multicast ?? '';
  if (name === '') return NONE;
  return ctx.metadata<VppInterfaceMetadata>(vppInterfaceKey.build({ name })).swIfIndex;
}

/** The interface's `vrf` is the table of the outer addresses. */
export const vxlan: InterfaceTypeHandler = {
  type: 'VXLAN_TUNNEL',
  mac: 'message',
  mtu: 'software',
  startsUp: true,
  downOnDelete: true,
  hasUniqueIdentity: true,

  validate(key, { vxlan: link }) {
    const src = link?.src_address ?? '';
    const dst = link?.dst_address ?? '';
    checkField(key, parseIp(src) !== undefined, 'vxlan.src_address', 'is not an IP address');
    checkField(key, parseIp(dst) !== undefined, 'vxlan.dst_address', 'is not an IP address');
    // VPP would refuse this with -82
    checkField(key, src !== dst, 'vxlan', 'source and destination are equal');
    checkField(
      key,
      src.includes(':') === dst.includes(':'),
      'vxlan',
      'the addresses are of different families',
    );
    checkField(key, (link?.vni ?? 0) <= MAX_VNI, `vxlan.vni`, `above ${MAX_VNI}`);
    checkField(key, link?.gpe === undefined, 'vxlan.gpe', 'not supported');
    const joined = isMulticast(dst) === (link?.multicast !== '');
    checkField(
      key,
      joined,
      'vxlan.multicast',
      'must be set for a multicast destination, and only for one',
    );
  },

  dependencies(value) {
    const needed: Dependency[] = [];
    if (value.vrf !== 0) {
      const protocol = isV6(value) ? 'IPV6' : 'IPV4';
      const key = vrfTableKey.build({ id: value.vrf, protocol });
      needed.push({ label: 'vrf-table-exists', key });
    }
    const iface = value.vxlan?.multicast ?? '';
    if (iface !== '') {
      const key = vppInterfaceKey.build({ name: iface });
      needed.push({ label: 'multicast-interface-exists', key });
      const prefixes = [interfaceAddressKey.prefix({ iface })];
      needed.push({ label: 'multicast-interface-has-address', anyOf: { prefixes } });
    }
    return needed;
  },

  settings: (value) => ({ ...value.vxlan, vrf: value.vrf }),

  identity({ vxlan: link, vrf }) {
    return link && identity(link.src_address, link.dst_address, link.vni, vrf);
  },

  async create(client, value, ctx) {
    const index = multicastIndex(value, ctx);
    return { swIfIndex: await addOrDelete(client, value, true, index) };
  },

  async delete(client, value) {
    await addOrDelete(client, value, false, NONE);
  },

  async dump(client, ctx) {
    if (!client.has('vxlan_tunnel_v2_dump')) return [];
    const tunnels = await client.dump('vxlan_tunnel_v2_dump', { sw_if_index: NONE });
    return tunnels.map((each) => {
      const src = fromAddress(each.src_address);
      const dst = fromAddress(each.dst_address);
      return {
        swIfIndex: each.sw_if_index,
        identity: identity(src, dst, each.vni, each.encap_vrf_id),
        fields: {
          vrf: each.encap_vrf_id,
          vxlan: {
            src_address: src,
            dst_address: dst,
            vni: each.vni,
            multicast: isMulticast(dst) ? (ctx.nameOf(each.mcast_sw_if_index) ?? '') : '',
          },
        },
      };
    });
  },

  adopt: ({ fields }) => fields,
};
