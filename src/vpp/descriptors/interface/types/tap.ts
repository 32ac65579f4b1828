import { checkField } from '#kvscheduler/api/check-field.ts';
import { fnv1a32 } from '#models/fnv.ts';
import type { TapLink } from '#models/vpp/interface.gen.ts';
import type { VppInterface } from '#models/vpp/interface.ts';
import { toMac } from '../../../binapi/addresses.ts';
import type { VppClient } from '../../../binapi/api.ts';
import { TapFlags } from '../../../binapi/enums.gen.ts';
import { VppRefusedError } from '../../../binapi/retval-error.ts';
import { HOST_NAME_LENGTH, NONE } from '../../limits.ts';
import { tagOf } from '../../tags.ts';
import type { CreatedInterface, InterfaceTypeHandler } from './handler.ts';

/** Maximum length of the path of a namespace in a message. */
const NAMESPACE_LENGTH = 63;
/** SYSCALL_ERROR_2: VPP could not open the namespace; SYSCALL_ERROR_3: could not enter it. Also of other calls. */
const notEntered: readonly number[] = [-12, -13];
const DEFAULT_RING = 256;
const zeroMac = new Uint8Array(6);
const noPrefix4 = { address: new Uint8Array(4), len: 0 };
const noPrefix6 = { address: new Uint8Array(16), len: 0 };

/**
 * Name that VPP gives to the kernel's side. If the configuration sets none, the link is moved or
 * renamed later, and this name must only be unique and the same after a restart. Also in the namespace of a pod: a
 * name that another TAP has there would attach VPP to that one.
 */
export function tapHostName(value: VppInterface): string {
  const given = value.tap?.host_if_name ?? '';
  return given === '' ? `tap-${fnv1a32(value.name)}` : given;
}

function ring(size: number): number {
  return size === 0 ? DEFAULT_RING : size;
}

function flags(tap: TapLink | undefined): number {
  const gso = tap?.enable_gso === true ? TapFlags.TAP_API_FLAG_GSO : 0;
  const tunnel = tap?.enable_tunnel === true ? TapFlags.TAP_API_FLAG_TUN : 0;
  return gso | tunnel;
}

function settings(value: VppInterface): object {
  return {
    host: tapHostName(value),
    rx: ring(value.tap?.rx_ring_size ?? 0),
    tx: ring(value.tap?.tx_ring_size ?? 0),
    flags: flags(value.tap),
  };
}

/**
 * Always with a name for the kernel's side: without one VPP has crashed in a namespace (FDio/vpp 878).
 * @param namespace undefined: that of VPP
 */
async function createIn(
  client: VppClient,
  value: VppInterface,
  namespace: string | undefined,
): Promise<CreatedInterface> {
  const hostIfName = tapHostName(value);
  const { sw_if_index } = await client.request('tap_create_v3', {
    id: NONE,
    use_random_mac: value.phys_address === '',
    mac_address: value.phys_address === '' ? zeroMac : toMac(value.phys_address),
    rx_ring_sz: ring(value.tap?.rx_ring_size ?? 0),
    tx_ring_sz: ring(value.tap?.tx_ring_size ?? 0),
    host_mtu_set: false,
    host_mtu_size: 0,
    host_mac_addr_set: false,
    host_mac_addr: zeroMac,
    host_ip4_prefix_set: false,
    host_ip4_prefix: noPrefix4,
    host_ip6_prefix_set: false,
    host_ip6_prefix: noPrefix6,
    host_ip4_gw_set: false,
    host_ip4_gw: new Uint8Array(4),
    host_ip6_gw_set: false,
    host_ip6_gw: new Uint8Array(16),
    tap_flags: flags(value.tap),
    host_namespace_set: namespace !== undefined,
    host_namespace: namespace ?? '',
    host_if_name_set: true,
    host_if_name: hostIfName,
    host_bridge_set: false,
    host_bridge: '',
    tag: tagOf(value.name),
  });
  return {
    swIfIndex: sw_if_index,
    hostIfName,
    ...(namespace !== undefined && { hostNamespace: namespace }),
  };
}

/**
 * TAP v2. The create message contains the tag, so that no crash leaves a TAP without one. VPP 26.06
 * reads past the end of a tag of 16, 32 or 48 bytes: the tag is set again by a message of its own.
 */
export const tap: InterfaceTypeHandler = {
  type: 'TAP',
  mac: 'create',
  mtu: 'software',
  startsUp: false,
  downOnDelete: true,
  hasUniqueIdentity: true,

  validate(key, { tap: link, phys_address }) {
    checkField(key, link !== undefined, 'tap', 'a TAP needs link settings');
    checkField(
      key,
      (link?.version ?? 2) !== 1,
      'tap.version',
      'VPP no longer has version 1: use 2',
    );
    checkField(key, (link?.version ?? 2) <= 2, 'tap.version', 'is not a version of TAP: use 2');
    const hasMac = link?.enable_tunnel !== true;
    checkField(key, hasMac || phys_address === '', 'phys_address', 'a TUN has no MAC');
    checkField(key, link?.to_microservice === '', 'tap.to_microservice', 'not supported');
    const fits = Buffer.byteLength(link?.host_if_name ?? '') <= HOST_NAME_LENGTH;
    checkField(key, fits, `tap.host_if_name`, `longer than ${HOST_NAME_LENGTH} characters`);
    for (const field of ['rx_ring_size', 'tx_ring_size'] as const) {
      const size = link?.[field] ?? 0;
      const fine = size <= 32768 && (size & (size - 1)) === 0;
      checkField(key, fine, `tap.${field}`, `must be a power of 2 up to 32768`);
    }
  },

  dependencies: () => [],
  settings,
  identity: (value) => `tap/${tapHostName(value)}`,

  /**
   * In the namespace of the value where VPP can: to move a link takes the kernel 15 to 20 ms. VPP may lack the
   * permission to enter it, or the namespace may have ended since it was seen.
   */
  async create(client, value, _ctx, { namespaces }) {
    const namespace = value.tap?.host_namespace ?? '';
    const fits = Buffer.byteLength(namespace) <= NAMESPACE_LENGTH;
    if (namespace === '' || !fits || !(await namespaces?.sees(namespace)))
      return createIn(client, value, undefined);
    try {
      return await createIn(client, value, namespace);
    } catch (thrown) {
      if (!(thrown instanceof VppRefusedError) || !notEntered.includes(thrown.retval)) throw thrown;
      return createIn(client, value, undefined);
    }
  },

  /**
   * VPP forwards nothing while the kernel deletes a link of VPP, for 12 to 30 ms. Only a link in a namespace that VPP
   * has entered is known to be the one with this name.
   */
  async delete(client, _value, { swIfIndex, hostIfName, hostNamespace }, tapLinks) {
    if (hostNamespace !== undefined && hostIfName !== undefined)
      await tapLinks?.beginDelete({ namespace: hostNamespace, name: hostIfName });
    await client.request('tap_delete_v2', { sw_if_index: swIfIndex });
  },

  async dump(client, { indexes }) {
    if (!client.has('sw_interface_tap_v2_dump')) return [];
    const taps = await Promise.all(
      indexes.map((sw_if_index) => client.dump('sw_interface_tap_v2_dump', { sw_if_index })),
    );
    return taps.flat().map((each) => ({
      swIfIndex: each.sw_if_index,
      // VPP's name for the link: VPP does not notice that it is moved and renamed
      hostIfName: each.host_if_name,
      ...(each.host_namespace !== '' && { hostNamespace: each.host_namespace }),
      identity: `tap/${each.host_if_name}`,
      fields: {
        tap: {
          version: 2,
          host_if_name: each.host_if_name,
          to_microservice: '',
          rx_ring_size: each.rx_ring_sz,
          tx_ring_size: each.tx_ring_sz,
          enable_gso: (each.tap_flags & TapFlags.TAP_API_FLAG_GSO) !== 0,
          enable_tunnel: (each.tap_flags & TapFlags.TAP_API_FLAG_TUN) !== 0,
          host_namespace: each.host_namespace,
        },
      },
    }));
  },

  adopt({ fields }, desired) {
    const found = fields.tap;
    if (found === undefined || desired.tap === undefined) return fields;
    const same = (size: number, asked: number): number => (size === ring(asked) ? asked : size);
    return {
      tap: {
        ...found,
        version: desired.tap.version,
        host_if_name:
          found.host_if_name === tapHostName(desired)
            ? desired.tap.host_if_name
            : found.host_if_name,
        rx_ring_size: same(found.rx_ring_size, desired.tap.rx_ring_size),
        tx_ring_size: same(found.tx_ring_size, desired.tap.tx_ring_size),
        // where it was made counts only until its Linux interface has it
        host_namespace: desired.tap.host_namespace,
      },
    };
  },
};
