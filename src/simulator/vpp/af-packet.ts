import { fromMac } from '#vpp/binapi/addresses.ts';
import type { Host } from './host.ts';
import type { Interfaces } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { retval } from './retval.ts';

const mode = { ethernet: 1, ip: 2 };
const POLLING = 1;
const INTERRUPT = 2;
/** VPP adds this to the MTU of the host's link: two Ethernet headers with two VLAN tags each. */
const OVERHEAD = 44;

/**
 * AF_PACKET interfaces over links of the host. They stay bound to the link that had the name when
 * they were created: if it is deleted they do not change, and a new link of that name is not used.
 */
export function afPacketMessages(interfaces: Interfaces, host: Host): MessageHandlers {
  /** Interface index by name of the host's link. */
  const bound = new Map<string, number>();

  return {
    requests: {
      af_packet_create_v3: (requested) => {
        const hostName = requested.host_if_name;
        if (requested.mode !== mode.ethernet && requested.mode !== mode.ip)
          return retval.INVALID_VALUE;
        if (bound.has(hostName)) return retval.IF_ALREADY_EXISTS;
        const link = host.find(hostName);
        if (!link) return retval.INVALID_INTERFACE;
        link.setUp(true);
        const isIp = requested.mode === mode.ip;
        const given = requested.use_random_hw_addr ? host.randomMac() : fromMac(requested.hw_addr);
        const iface = interfaces.add({
          kind: 'af-packet',
          name: `host-${hostName}`,
          deviceType: 'af-packet',
          mac: isIp ? '00:00:00:00:00:00' : given,
          linkUp: true,
          ...(isIp && { linkMtu: 0 }),
          queues: Array.from({ length: Math.max(1, requested.num_rx_queues) }, (_, id) => ({
            id,
            mode: INTERRUPT,
          })),
          defaultRxMode: POLLING,
          driver: {
            link(adminUp) {
              link.setUp(adminUp);
              return adminUp;
            },
            setMtu: (mtu) => (link.setMtu(mtu + OVERHEAD) ? undefined : retval.SYSCALL_ERROR_1),
            setMac(mac) {
              if (isIp) return retval.UNIMPLEMENTED;
              link.setMac(mac);
              return undefined;
            },
          },
        });
        bound.set(hostName, iface.index);
        return { sw_if_index: iface.index };
      },
      af_packet_delete: ({ host_if_name }) => {
        const found = bound.get(host_if_name);
        if (found === undefined) return retval.SYSCALL_ERROR_1;
        bound.delete(host_if_name);
        interfaces.remove(interfaces.get(found)!);
        return 0;
      },
    },
    dumps: {
      af_packet_dump: () =>
        [...bound].map(([host_if_name, sw_if_index]) => ({ sw_if_index, host_if_name })),
    },
  };
}
