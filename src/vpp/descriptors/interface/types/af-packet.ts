import { checkField } from '#kvscheduler/api/check-field.ts';
import type { OperationContext } from '#kvscheduler/api/descriptor.ts';
import { linuxHostNameKey } from '#models/linux/derived.ts';
import { linuxInterfaceKey } from '#models/linux/interface.ts';
import type { VppInterface } from '#models/vpp/interface.ts';
import type { LinuxInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { toMac } from '../../../binapi/addresses.ts';
import { AfPacketMode } from '../../../binapi/enums.gen.ts';
import type { SwInterfaceDetails } from '../../../binapi/messages.gen.ts';
import { ignoreRetvals } from '../../ignored-retvals.ts';
import { HOST_NAME_LENGTH, NONE } from '../../limits.ts';
import type { InterfaceTypeHandler, TypeRetrieveContext } from './handler.ts';

/** VPP answers this only if there is no AF_PACKET interface on the link. */
const NO_SUCH_INTERFACE = -11;

/** VPP names an interface by it and the link. */
const NAME_PREFIX = 'host-';

/**
 * Frames of VPP's transmit ring: as many as VPP sends at once, so that it drops none. The kernel
 * allocates the memory of all frames at the start, 66 KB each; VPP's default of 1,024 frames would need
 * 69 MB per interface. Frames cannot be smaller: VPP copies whole packets into them, and a packet
 * received with segmentation offload has up to 64 KB.
 */
const FRAMES_TO_SEND_FROM = 256;

function linuxKey(value: VppInterface): string | undefined {
  const name = value.afpacket?.linux_interface ?? '';
  return name === '' ? undefined : linuxInterfaceKey.build({ name });
}

/** The link in the agent's namespace that VPP binds to. */
function hostName(value: VppInterface, ctx: OperationContext): string {
  const key = linuxKey(value);
  if (key === undefined) return value.afpacket?.host_if_name ?? '';
  return ctx.metadata<LinuxInterfaceMetadata>(key).hostIfName;
}

/**
 * Bound to a link of the kernel by its name. If the link is deleted, VPP keeps a dead interface: the
 * dependency deletes the interface first and recreates it with the link. The MAC is set at creation
 * only, because changing it later would also change the MAC of the link in the kernel.
 */
export const afPacket: InterfaceTypeHandler = {
  type: 'AF_PACKET',
  mac: 'create',
  mtu: 'linked',
  startsUp: false,
  downOnDelete: false,
  hasUniqueIdentity: true,

  validate(key, { afpacket }) {
    const host = afpacket?.host_if_name ?? '';
    const named = host !== '' || (afpacket?.linux_interface ?? '') !== '';
    checkField(key, named, 'afpacket', 'neither host_if_name nor linux_interface is set');
    const fits = Buffer.byteLength(host) <= HOST_NAME_LENGTH;
    checkField(key, fits, `afpacket.host_if_name`, `longer than ${HOST_NAME_LENGTH} characters`);
  },

  dependencies(value) {
    const label = 'linux-interface-exists';
    const key = linuxKey(value);
    if (key !== undefined) return [{ label, key }];
    const present = linuxHostNameKey.build({ host: value.afpacket?.host_if_name ?? '' });
    // the link that the kernel reports, or the key that a managed Linux interface derives for it
    const accepts = (each: string): boolean => each === present || each.startsWith(`${present}/`);
    return [{ label, anyOf: { prefixes: [present], accepts } }];
  },

  settings(value) {
    const key = linuxKey(value);
    return { link: key ?? value.afpacket?.host_if_name, mac: value.phys_address };
  },

  identity(value) {
    return linuxKey(value) === undefined ? `af-packet/${value.afpacket?.host_if_name}` : undefined;
  },

  async create(client, value, ctx) {
    const mac = value.phys_address;
    const hostIfName = hostName(value, ctx);
    const { sw_if_index } = await client.request('af_packet_create_v3', {
      mode: AfPacketMode.AF_PACKET_API_MODE_ETHERNET,
      hw_addr: mac === '' ? new Uint8Array(6) : toMac(mac),
      use_random_hw_addr: mac === '',
      host_if_name: hostIfName,
      rx_frame_size: 0,
      tx_frame_size: 0,
      rx_frames_per_block: 0,
      tx_frames_per_block: FRAMES_TO_SEND_FROM,
      flags: 0,
    });
    return { swIfIndex: sw_if_index, hostIfName };
  },

  async delete(client, _value, { hostIfName }) {
    const request = client.request('af_packet_delete', { host_if_name: hostIfName ?? '' });
    await ignoreRetvals(request, [NO_SUCH_INTERFACE]);
  },

  async dump(client, { details, indexes }) {
    if (!client.has('af_packet_dump')) return [];
    // VPP cannot be asked for one of them; unless an operator has renamed it, its name says the same
    const byName = details.flatMap(linkByName);
    const isAll = indexes.includes(NONE) || byName.length < details.filter(isAfPacket).length;
    const bound = isAll ? await client.dump('af_packet_dump', {}) : byName;
    return bound.map((each) => ({
      swIfIndex: each.sw_if_index,
      hostIfName: each.host_if_name,
      identity: `af-packet/${each.host_if_name}`,
      fields: { afpacket: { host_if_name: each.host_if_name, linux_interface: '' } },
    }));
  },

  adopt({ fields }, desired, ctx: TypeRetrieveContext) {
    const logical = desired.afpacket?.linux_interface ?? '';
    const meant = logical === '' ? desired.afpacket?.host_if_name : ctx.linuxHostName(logical);
    if (desired.afpacket === undefined || meant !== fields.afpacket?.host_if_name) return fields;
    return { afpacket: desired.afpacket };
  },
};

function isAfPacket({ interface_dev_type }: SwInterfaceDetails): boolean {
  return interface_dev_type === 'af-packet';
}

function linkByName(
  details: SwInterfaceDetails,
): readonly { readonly sw_if_index: number; readonly host_if_name: string }[] {
  const { sw_if_index, interface_name } = details;
  const isNamed = isAfPacket(details) && interface_name.startsWith(NAME_PREFIX);
  return isNamed ? [{ sw_if_index, host_if_name: interface_name.slice(NAME_PREFIX.length) }] : [];
}
