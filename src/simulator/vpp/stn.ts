import { fromAddress, toAddress } from '#vpp/binapi/addresses.ts';
import type { Interfaces } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { retval } from './retval.ts';

/** STN rules, which pass packets of a stolen NIC to the host. They outlive their interface. */
export function stnMessages(interfaces: Interfaces): MessageHandlers {
  const rules = new Map<string, number>();
  return {
    requests: {
      stn_add_del_rule: ({ ip_address, sw_if_index, is_add }) => {
        const address = fromAddress(ip_address);
        // VPP identifies a rule by its address; adding it again changes the interface
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
