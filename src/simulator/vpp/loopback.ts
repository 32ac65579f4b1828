import { fromMac } from '#vpp/binapi/addresses.ts';
import type { Interfaces } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { retval } from './retval.ts';

const MAX_INSTANCES = 16 * 1024;

/** Without a MAC of its own a loopback gets one made from its number. */
function macOf(instance: number): string {
  const hex = instance.toString(16).padStart(8, '0').match(/../g)!.join(':');
  return `de:ad:${hex}`;
}

export function loopbackMessages(interfaces: Interfaces): MessageHandlers {
  const instances = new Map<number, number>();
  interfaces.onRemove(({ index }) => instances.delete(index));

  const create = (mac: Uint8Array, wanted: number | undefined) => {
    const used = new Set(instances.values());
    let instance = wanted ?? 0;
    if (wanted === undefined) while (used.has(instance)) instance++;
    if (used.has(instance) || instance >= MAX_INSTANCES) return retval.INVALID_REGISTRATION;
    const given = fromMac(mac);
    const iface = interfaces.add({
      kind: 'loopback',
      name: `loop${instance}`,
      deviceType: 'Loopback',
      mac: given === '00:00:00:00:00:00' ? macOf(instance) : given,
      driver: { link: (adminUp) => adminUp, setMac: () => undefined },
    });
    instances.set(iface.index, instance);
    return { sw_if_index: iface.index };
  };

  return {
    requests: {
      create_loopback: ({ mac_address }) => create(mac_address, undefined),
      create_loopback_instance: ({ mac_address, is_specified, user_instance }) =>
        create(mac_address, is_specified ? user_instance : undefined),
      delete_loopback: ({ sw_if_index }) => {
        const named = interfaces.get(sw_if_index);
        // VPP takes a VLAN for what it is on
        const iface = named?.sup ?? named;
        if (iface?.kind !== 'loopback') return retval.INVALID_SW_IF_INDEX;
        interfaces.remove(iface);
        return 0;
      },
    },
  };
}
