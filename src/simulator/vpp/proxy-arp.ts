import { textOfBytes } from '#vpp/binapi/addresses.ts';
import type { ProxyArp } from '#vpp/binapi/messages.gen.ts';
import type { Fib } from './fib.ts';
import type { Interfaces } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { retval } from './retval.ts';

function textOf({ table_id, low, hi }: ProxyArp): string {
  return `${textOfBytes(low)}-${textOfBytes(hi)} table ${table_id}`;
}

/** Proxy ARP: one list of ranges, and a flag for each interface index, which outlives the interface. */
export function proxyArpMessages(interfaces: Interfaces, fib: Fib): MessageHandlers {
  let ranges: ProxyArp[] = [];
  const enabled = new Set<number>();
  return {
    requests: {
      proxy_arp_add_del: ({ is_add, proxy }) => {
        if (!fib.find(4, proxy.table_id)) return retval.NO_SUCH_FIB;
        const others = ranges.filter((one) => textOf(one) !== textOf(proxy));
        if (!is_add && others.length === ranges.length) return retval.NO_SUCH_ENTRY;
        if (!is_add) ranges = others;
        else if (others.length === ranges.length) ranges.push(proxy);
        return 0;
      },
      proxy_arp_intfc_enable_disable: ({ sw_if_index, enable }) => {
        if (!interfaces.get(sw_if_index)) return retval.INVALID_SW_IF_INDEX;
        if (enable) enabled.add(sw_if_index);
        else enabled.delete(sw_if_index);
        return 0;
      },
    },
    dumps: {
      proxy_arp_dump: () => ranges.map((proxy) => ({ proxy })),
      proxy_arp_intfc_dump: () =>
        [...enabled].sort((a, b) => a - b).map((sw_if_index) => ({ sw_if_index })),
    },
    snapshot: () => ({
      proxyArpRanges: ranges.map(textOf).sort(),
      proxyArpInterfaces: [...enabled].map((index) => interfaces.nameOf(index)).sort(),
    }),
  };
}
