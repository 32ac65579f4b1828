import { fromMac, toMac } from '#vpp/binapi/addresses.ts';
import type { SwInterfaceTapV2Details, TapCreateV3 } from '#vpp/binapi/messages.gen.ts';
import type { ReceivedFields } from '#vpp/binapi/server.ts';
import type { Host, HostLink } from './host.ts';
import type { Interfaces } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { NONE, retval } from './retval.ts';

const MAX_INSTANCES = 2048;
const MAX_RING_SIZE = 32768;
const ATTACH = 8;
const POLLING = 1;

interface Tap {
  readonly details: SwInterfaceTapV2Details;
  readonly link: HostLink;
}

function isRing(size: number): boolean {
  return size <= MAX_RING_SIZE && (size & (size - 1)) === 0;
}

/** Lengths at which VPP's copy of a tag fills its memory block, so that no zero follows it. */
const unterminatedLengths: readonly number[] = [16, 32, 48];

/** VPP 26.06 copies the tag from a vector without a terminating zero, with what follows in memory. */
function copiedTag(tag: string): string {
  return unterminatedLengths.includes(Buffer.byteLength(tag)) ? `${tag}1` : tag;
}

/** TAPs (virtio over vhost-net): one end in VPP, the other end is a link of the host. */
export function tapMessages(
  interfaces: Interfaces,
  host: Host,
): MessageHandlers & { close(): void } {
  const taps = new Map<number, Tap>();
  interfaces.onRemove(({ index }) => {
    taps.get(index)?.link.close();
    taps.delete(index);
  });

  const freeId = (): number => {
    const used = new Set([...taps.values()].map(({ details }) => details.id));
    let id = 0;
    while (used.has(id)) id++;
    return id;
  };
  const freeHostName = (): string => {
    let number = 0;
    while (host.find(`tap${number}`)) number++;
    return `tap${number}`;
  };

  const create = (requested: ReceivedFields<TapCreateV3>) => {
    const hostSide = [
      requested.host_ip4_prefix_set,
      requested.host_ip6_prefix_set,
      requested.host_ip4_gw_set,
      requested.host_ip6_gw_set,
    ];
    // not simulated: the Linux descriptors configure addresses and routes of the host end
    if (hostSide.includes(true)) return retval.UNIMPLEMENTED;
    const ids = new Set([...taps.values()].map(({ details }) => details.id));
    if (requested.id !== NONE && ids.has(requested.id)) return retval.INVALID_INTERFACE;
    const id = requested.id === NONE ? freeId() : requested.id;
    if (id > MAX_INSTANCES) return retval.UNSPECIFIED;
    if (requested.tap_flags & ATTACH && !requested.host_if_name_set)
      return retval.NO_MATCHING_INTERFACE;
    const hostName = requested.host_if_name_set ? requested.host_if_name : freeHostName();
    const namespace = requested.host_namespace_set ? requested.host_namespace : undefined;
    const link = host.openTap(hostName, namespace);
    if (!link) return namespace === undefined ? retval.SYSCALL_ERROR_3 : retval.SYSCALL_ERROR_2;
    if (!isRing(requested.rx_ring_sz) || !isRing(requested.tx_ring_sz)) {
      link.close();
      return retval.INIT_FAILED;
    }
    const hostMac = requested.host_mac_addr_set
      ? fromMac(requested.host_mac_addr)
      : host.randomMac();
    link.setMac(hostMac);
    link.setUp(true);
    if (requested.host_mtu_set) link.setMtu(requested.host_mtu_size);
    const iface = interfaces.add({
      kind: 'tap',
      name: `tap${id}`,
      deviceType: 'tap',
      mac: requested.use_random_mac ? host.randomMac() : fromMac(requested.mac_address),
      linkUp: true,
      queues: Array.from({ length: Math.max(1, requested.num_rx_queues) }, (_, queue) => ({
        id: queue,
        mode: POLLING,
      })),
      defaultRxMode: POLLING,
      driver: { link: (up) => up, setMtu: () => undefined, setMac: () => undefined },
    });
    iface.tag = copiedTag(requested.tag);
    taps.set(iface.index, {
      link,
      details: {
        sw_if_index: iface.index,
        id,
        tx_ring_sz: requested.tx_ring_sz || 256,
        rx_ring_sz: requested.rx_ring_sz || 256,
        host_mtu_size: requested.host_mtu_set ? requested.host_mtu_size : 0,
        host_mac_addr: toMac(hostMac),
        host_ip4_prefix: requested.host_ip4_prefix,
        host_ip6_prefix: requested.host_ip6_prefix,
        tap_flags: requested.tap_flags,
        dev_name: iface.name,
        host_if_name: hostName,
        host_namespace: namespace ?? '',
        host_bridge: requested.host_bridge_set ? requested.host_bridge : '',
      },
    });
    return { sw_if_index: iface.index };
  };

  return {
    requests: {
      tap_create_v3: create,
      tap_delete_v2: ({ sw_if_index }) => {
        const iface = interfaces.get(sw_if_index);
        if (iface?.kind !== 'tap') return retval.INVALID_SW_IF_INDEX;
        interfaces.remove(iface);
        return 0;
      },
    },
    dumps: {
      sw_interface_tap_v2_dump: ({ sw_if_index }) =>
        [...taps.values()]
          .map(({ details }) => details)
          .filter((details) => sw_if_index === NONE || details.sw_if_index === sw_if_index),
    },
    close() {
      for (const { link } of taps.values()) link.close();
    },
  };
}
