/** Evaluates the ACLs of values for packets, without the packet trace. */
import type { Acl, AclRule } from '#models/vpp/acl.ts';
import { tableRules } from '#plugins/policy/acl/acl-rules.ts';
import { permitAll } from '#plugins/policy/acl/table.ts';
import { AddressSet, addressNumber } from '#plugins/policy/address-set.ts';

export interface TestPacket {
  readonly from: string;
  readonly to: string;
  readonly protocol: 'TCP' | 'UDP' | 'SCTP' | 'ICMP';
  readonly sourcePort: number;
  readonly port: number;
  /** Of TCP; absent: the packet opens a connection. */
  readonly flags?: number;
  /** Whether VPP does not find the header of the protocol: no rule with a protocol matches. */
  readonly isUnreadable?: boolean;
}

export const SYN = 2;
export const ACK = 16;

const numbers = { ICMP: 1, TCP: 6, UDP: 17, SCTP: 132 } as const;

export function reply(packet: TestPacket): TestPacket {
  const { from, to, sourcePort, port } = packet;
  return { ...packet, from: to, to: from, sourcePort: port, port: sourcePort, flags: SYN | ACK };
}

/** The action of the first rule that matches; VPP drops what no rule matches. */
export function decide(rules: readonly AclRule[], packet: TestPacket): AclRule['action'] {
  return rules.find((rule) => matches(rule, packet))?.action ?? 'DENY';
}

const permitEverything = tableRules([permitAll], true);

/** The rules that are bound to an interface; without an ACL everything passes. @param side in the view of VPP */
export function boundRules(
  values: Iterable<object>,
  name: string,
  side: 'ingress' | 'egress',
): readonly AclRule[] {
  const bound = [...values].filter((acl) => (acl as Acl).interfaces?.[side].includes(name));
  if (bound.length > 1) throw new Error(`${bound.length} ACLs at ${side} of ${name}`);
  return (bound[0] as Acl | undefined)?.rules ?? permitEverything;
}

const sets = new Map<string, AddressSet>();

function contains(network: string, address: string): boolean {
  const set = sets.get(network) ?? AddressSet.of([network]);
  sets.set(network, set);
  return set.has(addressNumber(address)!);
}

function matches({ ip_rule = {} }: AclRule, packet: TestPacket): boolean {
  const { ip, tcp, udp, icmp } = ip_rule;
  if (!contains(ip!.source_network, packet.from)) return false;
  if (!contains(ip!.destination_network, packet.to)) return false;
  // an echo request
  if (icmp) {
    const { first, last } = icmp.icmp_type_range!;
    const type = icmp.icmpv6 ? 128 : 8;
    return !packet.isUnreadable && packet.protocol === 'ICMP' && first <= type && type <= last;
  }
  const protocol = tcp ? 6 : udp ? 17 : ip!.protocol;
  if (protocol !== 0 && (packet.isUnreadable || protocol !== numbers[packet.protocol]))
    return false;
  const ports = tcp ?? udp;
  if (ports === undefined) return true;
  const { source_port_range: source, destination_port_range: destination } = ports;
  if (packet.sourcePort < source!.lower_port || packet.sourcePort > source!.upper_port)
    return false;
  if (packet.port < destination!.lower_port || packet.port > destination!.upper_port) return false;
  return ((packet.flags ?? SYN) & (tcp?.tcp_flags_mask ?? 0)) === (tcp?.tcp_flags_value ?? 0);
}
