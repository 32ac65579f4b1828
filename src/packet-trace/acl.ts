/**
 * The ACLs of VPP: whether a packet passes an interface, as the nodes `acl-plugin-in-ip4-fa` and
 * `acl-plugin-out-ip4-fa` decide, and their twins for IPv6 and bridges.
 */
import type { AclConfig } from './acl-config.ts';
import { AclIndex, type ComparedPacket, ipProtocols } from './acl-index.ts';
import type { AclFlow, AclSessions, AclSide } from './acl-session.ts';
import { type AddressNumber, addressNumber } from './addresses.ts';
import type { Packet, TcpFlag } from './packet.ts';

export interface AclOutcome {
  readonly isPermitted: boolean;
  readonly description: string;
  /** Key of the ACL that decided; empty if none did. */
  readonly key: string;
}

const flagBits: Readonly<Record<TcpFlag, number>> = { FIN: 0x01, SYN: 0x02, RST: 0x04, ACK: 0x10 };

/** Types of ICMP. */
const echo = { request: 8, reply: 0 };
const echoV6 = { request: 128, reply: 129 };

/** @returns undefined if the interface has no ACL on this side */
export function evaluateAcls(
  { config, sessions }: { readonly config: AclConfig; readonly sessions: AclSessions },
  place: { readonly interface: string; readonly side: AclSide },
  packet: Packet,
): AclOutcome | undefined {
  const index = AclIndex.of(config);
  const { interface: name, side } = place;
  if (!index.isBound(name, side)) return undefined;
  const compared = comparedPacket(packet);
  if (compared === undefined) return undefined;
  const flow: AclFlow = { ...compared, source: packet.source, destination: packet.destination };
  const where = `at the ${side} of ${name}`;
  const session = sessions.find(name, side, flow);
  if (session)
    return {
      isPermitted: true,
      description: `permitted ${where} by a session that rule ${session.rule} of ACL ${session.acl} made`,
      key: session.key,
    };
  const decision = index.decide(name, side, compared);
  if (decision === undefined)
    return {
      isPermitted: false,
      description: `denied ${where}: no rule of its ACLs matches`,
      key: '',
    };
  const { acl, rule, action } = decision;
  const by = `${where} by rule ${rule} of ACL ${acl.name}`;
  if (action === 'DENY') return { isPermitted: false, description: `denied ${by}`, key: acl.key };
  if (action === 'REFLECT') sessions.add(name, side, flow, { acl: acl.name, rule, key: acl.key });
  const more = action === 'REFLECT' ? ', which makes a session' : '';
  return { isPermitted: true, description: `permitted ${by}${more}`, key: acl.key };
}

/** @returns undefined for a packet whose addresses are not valid */
function comparedPacket(packet: Packet): ComparedPacket | undefined {
  const [source, destination] = [addressNumber(packet.source), addressNumber(packet.destination)];
  if (source === undefined || destination === undefined) return undefined;
  return { source, destination, ...selectorsOf(packet, source) };
}

function selectorsOf(
  { protocol, sourcePort = 0, destinationPort = 0, tcpFlags = ['SYN'], isEchoReply }: Packet,
  source: AddressNumber,
): Omit<ComparedPacket, 'source' | 'destination'> {
  const noPorts = { sourcePort: 0, destinationPort: 0, tcpFlags: 0 };
  switch (protocol) {
    case undefined:
      return { protocol: 0, ...noPorts };
    case 'SCTP':
      return { protocol: ipProtocols.SCTP, ...noPorts };
    case 'UDP':
      return { protocol: ipProtocols.UDP, sourcePort, destinationPort, tcpFlags: 0 };
    case 'TCP': {
      const bits = tcpFlags.reduce((sum, flag) => sum | flagBits[flag], 0);
      return { protocol: ipProtocols.TCP, sourcePort, destinationPort, tcpFlags: bits };
    }
    case 'ICMP': {
      const isV6 = typeof source === 'bigint';
      const types = isV6 ? echoV6 : echo;
      return {
        ...noPorts,
        protocol: isV6 ? ipProtocols.ICMPV6 : ipProtocols.ICMP,
        sourcePort: isEchoReply ? types.reply : types.request,
      };
    }
  }
}
