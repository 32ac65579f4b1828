/** Conversion of ACL rules between the model and VPP. */
import type { DeepInput } from '#models/model.ts';
import type { ACLRuleIpRulePortRange } from '#models/vpp/acl.gen.ts';
import type { AclIpRule, AclRule } from '#models/vpp/acl.ts';
import { fromPrefix, toPrefix } from '../../binapi/addresses.ts';
import { AclAction, AddressFamily } from '../../binapi/enums.gen.ts';
import type { AclRule as VppRule } from '../../binapi/messages.gen.ts';

const icmp = { v4: 1, v6: 58 };
const TCP = 6;
const UDP = 17;
const MAX_PORT = 65_535;
const MAX_ICMP = 255;

const actions: Readonly<Record<AclRule['action'], number>> = {
  DENY: AclAction.ACL_ACTION_API_DENY,
  PERMIT: AclAction.ACL_ACTION_API_PERMIT,
  REFLECT: AclAction.ACL_ACTION_API_PERMIT_REFLECT,
};

const ANY_V4 = '0.0.0.0/0';
const ANY_V6 = '::/0';

/** Ports of TCP and UDP, or type and code of ICMP. */
interface Selection {
  readonly proto: number;
  readonly source: Range;
  readonly destination: Range;
  readonly flagsMask: number;
  readonly flagsValue: number;
}

interface Range {
  readonly first: number;
  readonly last: number;
}

function portsOf(range: ACLRuleIpRulePortRange | undefined): Range {
  if (range === undefined) return { first: 0, last: MAX_PORT };
  return { first: range.lower_port, last: range.upper_port };
}

function selectionOf(rule: AclIpRule): Selection {
  const none = { flagsMask: 0, flagsValue: 0 };
  const ports = (of: typeof rule.udp) => ({
    source: portsOf(of?.source_port_range),
    destination: portsOf(of?.destination_port_range),
  });
  if (rule.icmp !== undefined) {
    const { icmpv6, icmp_type_range, icmp_code_range } = rule.icmp;
    const all = { first: 0, last: MAX_ICMP };
    return {
      proto: icmpv6 ? icmp.v6 : icmp.v4,
      source: icmp_type_range ?? all,
      destination: icmp_code_range ?? all,
      ...none,
    };
  }
  if (rule.tcp !== undefined) {
    const { tcp_flags_mask: flagsMask, tcp_flags_value: flagsValue } = rule.tcp;
    return { proto: TCP, ...ports(rule.tcp), flagsMask, flagsValue };
  }
  if (rule.udp !== undefined) return { proto: UDP, ...ports(rule.udp), ...none };
  return { proto: rule.ip?.protocol ?? 0, ...ports(undefined), ...none };
}

/** A missing network means any, of the family of the other one. */
export function networksOf(rule: AclIpRule): {
  readonly source: string;
  readonly destination: string;
} {
  const { source_network: source = '', destination_network: destination = '' } = rule.ip ?? {};
  const isV6 = rule.icmp?.icmpv6 === true || source.includes(':') || destination.includes(':');
  const any = isV6 ? ANY_V6 : ANY_V4;
  return { source: source || any, destination: destination || any };
}

export function toRule({ action, ip_rule = {} }: AclRule): VppRule {
  const { proto, source, destination, flagsMask, flagsValue } = selectionOf(ip_rule);
  const networks = networksOf(ip_rule);
  return {
    is_permit: actions[action],
    src_prefix: toPrefix(networks.source),
    dst_prefix: toPrefix(networks.destination),
    proto,
    srcport_or_icmptype_first: source.first,
    srcport_or_icmptype_last: source.last,
    dstport_or_icmpcode_first: destination.first,
    dstport_or_icmpcode_last: destination.last,
    tcp_flags_mask: flagsMask,
    tcp_flags_value: flagsValue,
  };
}

export function fromRule(rule: VppRule): DeepInput<AclRule> {
  const action = Object.entries(actions).find(([, number]) => number === rule.is_permit)?.[0];
  const source = { first: rule.srcport_or_icmptype_first, last: rule.srcport_or_icmptype_last };
  const destination = {
    first: rule.dstport_or_icmpcode_first,
    last: rule.dstport_or_icmpcode_last,
  };
  const ports = {
    source_port_range: { lower_port: source.first, upper_port: source.last },
    destination_port_range: { lower_port: destination.first, upper_port: destination.last },
  };
  const { proto } = rule;
  // a rule for the protocol alone has a larger range than ICMP has types
  const ofFamily = rule.src_prefix.address.af === AddressFamily.ADDRESS_IP6 ? icmp.v6 : icmp.v4;
  const isIcmp = proto === ofFamily && source.last <= MAX_ICMP && destination.last <= MAX_ICMP;
  return {
    action: action as AclRule['action'] | undefined,
    ip_rule: {
      ip: {
        source_network: fromPrefix(rule.src_prefix),
        destination_network: fromPrefix(rule.dst_prefix),
        protocol: isIcmp || proto === TCP || proto === UDP ? 0 : proto,
      },
      ...(isIcmp && {
        icmp: {
          icmpv6: proto === icmp.v6,
          icmp_type_range: source,
          icmp_code_range: destination,
        },
      }),
      ...(proto === TCP && {
        tcp: {
          ...ports,
          tcp_flags_mask: rule.tcp_flags_mask,
          tcp_flags_value: rule.tcp_flags_value,
        },
      }),
      ...(proto === UDP && { udp: ports }),
    },
  };
}

export function sameRule(a: VppRule, b: VppRule): boolean {
  return (
    a.is_permit === b.is_permit &&
    a.proto === b.proto &&
    samePrefix(a.src_prefix, b.src_prefix) &&
    samePrefix(a.dst_prefix, b.dst_prefix) &&
    a.srcport_or_icmptype_first === b.srcport_or_icmptype_first &&
    a.srcport_or_icmptype_last === b.srcport_or_icmptype_last &&
    a.dstport_or_icmpcode_first === b.dstport_or_icmpcode_first &&
    a.dstport_or_icmpcode_last === b.dstport_or_icmpcode_last &&
    a.tcp_flags_mask === b.tcp_flags_mask &&
    a.tcp_flags_value === b.tcp_flags_value
  );
}

type Prefix = VppRule['src_prefix'];

function samePrefix(a: Prefix, b: Prefix): boolean {
  return (
    a.len === b.len &&
    a.address.af === b.address.af &&
    Buffer.compare(a.address.un, b.address.un) === 0
  );
}
