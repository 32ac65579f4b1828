import { fromAddress, toAddress } from '#vpp/binapi/addresses.ts';
import type { Interfaces } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { retval } from './retval.ts';

/** Rules by which a stolen NIC's packets get to the host. One that names no interface stays there. */
export function stnMessages(interfaces: Interfaces): MessageHandlers {
  const rules = new Map<string, number>();
  return {
    requests: {
      stn_add_del_rule: ({ ip_address, sw_if_index, is_add }) => {
        const address = fromAddress(ip_address);
        // a rule goes by its address alone, and comes again with another interface
        if (!is_add) return rules.delete(address) ? 0 : retval.NO_SUCH_ENTRY;
        rules.set(address, sw_if_index);
        return 0;
      },
    },
    dumps: {
      stn_rules_dump: () =>
        [...rules].map(([address, sw_if_index]) => ({
          ip_address: toAddress(address),
          sw_if_index,
        })),
    },
    snapshot: () => ({
      stnRules: [...rules].map(([ip, index]) => `${ip} to ${interfaces.nameOf(index)}`).sort(),
    }),
  };
}
