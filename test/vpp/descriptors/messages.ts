/** Fields of VPP's messages for suites that create unmanaged objects. */
import { toPrefix } from '#vpp/binapi/addresses.ts';
import type { AclRule, FibPath } from '#vpp/binapi/messages.gen.ts';

const NONE = 0xffff_ffff;

/** A rule of an ACL that lets everything of IPv4 through. */
export const permitAll: AclRule = {
  is_permit: 1,
  src_prefix: toPrefix('0.0.0.0/0'),
  dst_prefix: toPrefix('0.0.0.0/0'),
  proto: 0,
  srcport_or_icmptype_first: 0,
  srcport_or_icmptype_last: 65_535,
  dstport_or_icmpcode_first: 0,
  dstport_or_icmpcode_last: 65_535,
  tcp_flags_mask: 0,
  tcp_flags_value: 0,
};

/** @param address of the next hop, 16 bytes; absent: none */
export function fibPath(more: Partial<FibPath>, address: Uint8Array = new Uint8Array(16)): FibPath {
  return {
    sw_if_index: NONE,
    table_id: 0,
    rpf_id: NONE,
    weight: 1,
    preference: 0,
    type: 0,
    flags: 0,
    proto: 0,
    nh: { address, via_label: 0x10_0000, obj_id: NONE, classify_table_index: NONE },
    n_labels: 0,
    label_stack: [],
    ...more,
  };
}
