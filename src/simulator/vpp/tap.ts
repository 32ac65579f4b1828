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

/** TAPs (virtio over vhost-net): one end in VPP, the other a link of the host. */
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

  const create = (wanted: ReceivedFields<TapCreateV3>) => {
    const hostSide = [
      wanted.host_ip4_prefix_set,
      wanted.host_ip6_prefix_set,
      wanted.host_ip4_gw_set,
      wanted.host_ip6_gw_set,
    ];
    // not simulated: addresses and routes of the host's end are the business of the Linux side
    if (hostSide.includes(true)) return retval.UNIMPLEMENTED;
    const ids = new Set([...taps.values()].map(({ details }) => details.id));
    if (wanted.id !== NONE && ids.has(wanted.id)) return retval.INVALID_INTERFACE;
    const id = wanted.id === NONE ? freeId() : wanted.id;
    if (id > MAX_INSTANCES) return retval.UNSPECIFIED;
    if (wanted.tap_flags & ATTACH && !wanted.host_if_name_set) return retval.NO_MATCHING_INTERFACE;
    const hostName = wanted.host_if_name_set ? wanted.host_if_name : freeHostName();
    const namespace = wanted.host_namespace_set ? wanted.host_namespace : undefined;
    const link = host.openTap(hostName, namespace);
    if (!link) return namespace === undefined ? retval.SYSCALL_ERROR_3 : retval.SYSCALL_ERROR_2;
    if (!isRing(wanted.rx_ring_sz) || !isRing(wanted.tx_ring_sz)) {
      link.close();
      return retval.INIT_FAILED;
    }
    const hostMac = wanted.host_mac_addr_set ? fromMac(wanted.host_mac_addr) : host.randomMac();
    link.setMac(hostMac);
    link.setUp(true);
    if (wanted.host_mtu_set) link.setMtu(wanted.host_mtu_size);
    const iface = interfaces.add({
      kind: 'tap',
      name: `tap${id}`,
      deviceType: 'tap',
      mac: wanted.use_random_mac ? host.randomMac() : fromMac(wanted.mac_address),
      linkUp: true,
      queues: Array.from({ length: Math.max(1, wanted.num_rx_queues) }, (_, queue) => ({
        id: queue,
        mode: POLLING,
      })),
      defaultRxMode: POLLING,
      driver: { link: (up) => up, setMtu: () => undefined, setMac: () => undefined },
    });
    iface.tag = wanted.tag;
    taps.set(iface.index, {
      link,
      details: {
        sw_if_index: iface.index,
        id,
        tx_ring_sz: wanted.tx_ring_sz || 256,
        rx_ring_sz: wanted.rx_ring_sz || 256,
        host_mtu_size: wanted.host_mtu_set ? wanted.host_mtu_size : 0,
        host_mac_addr: toMac(hostMac),
        host_ip4_prefix: wanted.host_ip4_prefix,
        host_ip6_prefix: wanted.host_ip6_prefix,
        tap_flags: wanted.tap_flags,
        dev_name: iface.name,
        host_if_name: hostName,
        host_namespace: namespace ?? '',
        host_bridge: wanted.host_bridge_set ? wanted.host_bridge : '',
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
