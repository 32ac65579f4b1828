/** Rules of ACLs in canonical form, without the conversion of the model: a table may have thousands. */
import type { AclIpRule, AclRule } from '#models/vpp/acl.ts';
import type { PortRange } from '../port-set.ts';

/** The part of a rule besides its networks. */
export type RuleMatch = Pick<AclIpRule, 'tcp' | 'udp' | 'icmp'> & {
  /** Number of a protocol that is none of the three. */
  readonly protocol: number;
};

interface Ports {
  readonly source?: PortRange;
  readonly destination?: PortRange;
}

/** A packet matches if these flags are set and the others of the mask are not. */
interface Flags {
  readonly mask: number;
  readonly value: number;
}

const TCP_SYN = 0x02;
const TCP_ACK = 0x10;

export const ANY_V4 = '0.0.0.0/0';
export const ANY_V6 = '::/0';

export const anyPacket: RuleMatch = Object.freeze({ protocol: 0 });

const everyPort: PortRange = { first: 0, last: 65_535 };

export function protocolPackets(protocol: number): RuleMatch {
  return Object.freeze({ protocol });
}

export function tcpPackets(
  ports: Ports,
  { mask, value }: Flags = { mask: 0, value: 0 },
): RuleMatch {
  const flags = { tcp_flags_mask: mask, tcp_flags_value: value };
  return Object.freeze({ protocol: 0, tcp: Object.freeze({ ...portRanges(ports), ...flags }) });
}

/** The packet of TCP that opens a connection. */
export function openingPackets(ports: Ports): RuleMatch {
  return tcpPackets(ports, { mask: TCP_SYN | TCP_ACK, value: TCP_SYN });
}

export function udpPackets(ports: Ports): RuleMatch {
  return Object.freeze({ protocol: 0, udp: Object.freeze(portRanges(ports)) });
}

export function icmpPackets(icmpv6: boolean, first: number, last: number): RuleMatch {
  return Object.freeze({
    protocol: 0,
    icmp: Object.freeze({
      icmpv6,
      icmp_code_range: Object.freeze({ first: 0, last: 255 }),
      icmp_type_range: Object.freeze({ first, last }),
    }),
  });
}

function portRanges({ source = everyPort, destination = everyPort }: Ports) {
  const range = ({ first, last }: PortRange) =>
    Object.freeze({ lower_port: first, upper_port: last });
  return { destination_port_range: range(destination), source_port_range: range(source) };
}

/** @param match may be shared by rules */
export function canonicalRule(
  action: AclRule['action'],
  source_network: string,
  destination_network: string,
  { protocol, ...match }: RuleMatch,
): AclRule {
  const ip = Object.freeze({ destination_network, source_network, protocol });
  return Object.freeze({ action, ip_rule: Object.freeze({ ip, ...match }) });
}
