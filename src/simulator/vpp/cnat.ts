import { fromAddress, textOfBytes } from '#vpp/binapi/addresses.ts';
import type {
  CnatEndpoint,
  CnatSetSnatAddressesV2,
  CnatTranslation,
} from '#vpp/binapi/messages.gen.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { NONE, retval } from './retval.ts';

/** Of a path whose addresses are known, as VPP dumps it. */
const ACTIVE = 4;

/** Translations of the plugin cnat, and the policies of its source NAT. */
export function cnatMessages(crash: (why: string) => void): MessageHandlers {
  const translations: (CnatTranslation | undefined)[] = [];
  /** The ID that was freed last is used first. */
  const free: number[] = [];
  /** By the index of the table. */
  const policies = new Map<number, CnatSetSnatAddressesV2>();

  const idOf = (asked: CnatTranslation): number =>
    translations.findIndex((one) => one !== undefined && endOf(one) === endOf(asked));

  return {
    requests: {
      cnat_translation_update: ({ translation }) => {
        if (translation.paths.length === 0) crash('a translation of cnat has no path');
        const known = idOf(translation);
        const id = known >= 0 ? known : (free.pop() ?? translations.length);
        // neither is changed in place
        const { lb_type, flow_hash_config } = translations[id] ?? translation;
        translations[id] = { ...translation, id, lb_type, flow_hash_config };
        return { id };
      },
      cnat_translation_del: ({ id }) => {
        if (translations[id] === undefined) return retval.NO_SUCH_ENTRY;
        translations[id] = undefined;
        free.push(id);
        return 0;
      },
      cnat_set_snat_addresses_v2: (policy) => {
        const { fwd_fib_index, snat_ip4, snat_ip6, sw_if_index } = policy;
        const isZero = [snat_ip4, snat_ip6].every((bytes) => bytes.every((byte) => byte === 0));
        if (!isZero || sw_if_index !== NONE) {
          policies.set(fwd_fib_index, policy);
          return 0;
        }
        return policies.delete(fwd_fib_index) ? 0 : retval.FEATURE_DISABLED;
      },
    },
    dumps: {
      // the table of an index is not known here: an agent has policies of table 0 alone
      cnat_snat_addresses_dump: () =>
        [...policies.values()].map(({ fwd_fib_index, snat_ip4, snat_ip6, sw_if_index }) => ({
          retval: 0,
          fwd_table_id4: 0,
          fwd_table_id6: fwd_fib_index,
          ret_table_id4: 0,
          ret_table_id6: 0,
          snat_ip4,
          snat_ip6,
          sw_if_index,
        })),
      cnat_translation_dump: () =>
        translations.flatMap((one) => (one === undefined ? [] : [{ translation: dumped(one) }])),
    },
    snapshot: () => ({
      cnat: translations.flatMap((one) => (one === undefined ? [] : [textOf(one)])).sort(),
      cnatPolicies: [...policies].map(
        ([table, { snat_ip6 }]) => `${table} ${textOfBytes(snat_ip6)}`,
      ),
    }),
  };
}

/** VPP does not report whether the address is interposed, the flags and the hash. */
function dumped(one: CnatTranslation): CnatTranslation {
  const paths = one.paths.map((path) => ({ ...path, flags: path.flags | ACTIVE }));
  return { ...one, is_real_ip: 0, flags: 0, flow_hash_config: 0, paths };
}

function endOf({ vip, ip_proto }: CnatTranslation): string {
  return `${ip_proto} ${endpointText(vip)}`;
}

function textOf(one: CnatTranslation): string {
  const paths = one.paths.map(
    ({ src_ep, dst_ep }) => `${fromAddress(src_ep.addr)} -> ${endpointText(dst_ep)}`,
  );
  return `${endOf(one)} by ${one.lb_type}: ${paths.join(', ')}`;
}

function endpointText({ addr, port }: CnatEndpoint): string {
  return `${fromAddress(addr)} ${port}`;
}
