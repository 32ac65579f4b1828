import { fromMac } from '#vpp/binapi/addresses.ts';
import type { Interfaces } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { retval } from './retval.ts';

const MAX_INSTANCES = 16 * 1024;

/** Default MAC of a loopback, derived from its instance number. */
function macOf(instance: number): string {
  const hex = instance.toString(16).padStart(8, '0').match(/../g)!.join(':');
  return `de:ad:${hex}`;
}

export function loopbackMessages(interfaces: Interfaces): MessageHandlers {
  const instances = new Map<number, number>();
  const used = new Set<number>();
  /** All instances below it are used. */
  let lowestFree = 0;
  interfaces.onRemove(({ index }) => {
    const instance = instances.get(index);
    if (instance === undefined) return;
    instances.delete(index);
    used.delete(instance);
    lowestFree = Math.min(lowestFree, instance);
  });

  const create = (mac: Uint8Array) => {
    while (used.has(lowestFree)) lowestFree++;
    const instance = lowestFree;
    if (instance >= MAX_INSTANCES) return retval.INVALID_REGISTRATION;
    const given = fromMac(mac);
    const iface = interfaces.add({
      kind: 'loopback',
      name: `loop${instance}`,
      deviceType: 'Loopback',
      mac: given === '00:00:00:00:00:00' ? macOf(instance) : given,
      driver: { link: (adminUp) => adminUp, setMac: () => undefined },
    });
    instances.set(iface.index, instance);
    used.add(instance);
    return { sw_if_index: iface.index };
  };

  return {
    requests: {
      create_loopback: ({ mac_address }) => create(mac_address),
      delete_loopback: ({ sw_if_index }) => {
        const named = interfaces.get(sw_if_index);
        // VPP resolves a sub-interface to its parent
        const iface = named?.sup ?? named;
        if (iface?.kind !== 'loopback') return retval.INVALID_SW_IF_INDEX;
        interfaces.remove(iface);
        return 0;
      },
    },
  };
}
