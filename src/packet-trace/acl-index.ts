/** Rules of ACLs, converted once for comparison with many packets. */
import type { AclIpRule, AclRule } from '#models/vpp/acl.ts';
import type { Acl, AclConfig } from './acl-config.ts';
import type { AclSide } from './acl-session.ts';
import { type AddressNumber, contains, type Network, network } from './addresses.ts';

/** A packet as rules compare it. */
export interface ComparedPacket {
  readonly source: AddressNumber;
  readonly destination: AddressNumber;
  /** Number of the IP protocol. */
  readonly protocol: number;
  /** Type and code of ICMP; 0 for protocols whose ports VPP does not know. */
  readonly sourcePort: number;
  readonly destinationPort: number;
  /** 0 for other protocols than TCP. */
  readonly tcpFlags: number;
}

export interface AclDecision {
  readonly acl: Acl;
  /** Position in its rules. */
  readonly rule: number;
  readonly action: AclRule['action'];
}

interface Range {
  readonly first: number;
  readonly last: number;
}

interface ComparedRule {
  readonly decision: AclDecision;
  readonly source: Network | undefined;
  readonly destination: Network | undefined;
  /** 0: any. */
  readonly protocol: number;
  readonly sourcePorts: Range;
  readonly destinationPorts: Range;
  readonly flagsMask: number;
  readonly flagsValue: number;
}

export const ipProtocols = { ICMP: 1, TCP: 6, UDP: 17, ICMPV6: 58, SCTP: 132 } as const;

const anyPort: Range = { first: 0, last: 65_535 };
const anyType: Range = { first: 0, last: 255 };

export class AclIndex {
  /** By side and interface. */
  readonly #rules = new Map<string, readonly ComparedRule[]>();

  static of(config: AclConfig): AclIndex {
    const known = indexes.get(config) ?? new AclIndex(config);
    indexes.set(config, known);
    return known;
  }

  private constructor({ acls, bindings }: AclConfig) {
    const rules = new Map(acls.map((acl) => [acl.name, acl.rules.map(comparedRule(acl))]));
    for (const { interface: name, input, output } of bindings) {
      for (const [side, names] of [
        ['input', input],
        ['output', output],
      ] as const) {
        if (names.length === 0) continue;
        const bound = names.flatMap((acl) => rules.get(acl) ?? []);
        this.#rules.set(`${side} ${name}`, bound);
      }
    }
  }

  isBound(interfaceName: string, side: AclSide): boolean {
    return this.#rules.has(`${side} ${interfaceName}`);
  }

  /** The first rule that matches. */
  decide(interfaceName: string, side: AclSide, packet: ComparedPacket): AclDecision | undefined {
    const rules = this.#rules.get(`${side} ${interfaceName}`) ?? [];
    return rules.find((rule) => matches(rule, packet))?.decision;
  }
}

const indexes = new WeakMap<AclConfig, AclIndex>();

function comparedRule(acl: Acl): (rule: AclRule, position: number) => ComparedRule {
  return ({ action, ip_rule = {} }, rule) => ({
    decision: { acl, rule, action },
    ...networksOf(ip_rule),
    ...selectionOf(ip_rule),
  });
}

/** A missing network means any, of the family of the other one. */
function networksOf({ ip, icmp }: AclIpRule): Pick<ComparedRule, 'source' | 'destination'> {
  const { source_network: source = '', destination_network: destination = '' } = ip ?? {};
  const isV6 = icmp?.icmpv6 === true || source.includes(':') || destination.includes(':');
  const any = isV6 ? '::/0' : '0.0.0.0/0';
  return { source: network(source || any), destination: network(destination || any) };
}

function selectionOf({
  ip,
  icmp,
  tcp,
  udp,
}: AclIpRule): Omit<ComparedRule, 'decision' | 'source' | 'destination'> {
  const noFlags = { flagsMask: 0, flagsValue: 0 };
  if (icmp !== undefined)
    return {
      protocol: icmp.icmpv6 ? ipProtocols.ICMPV6 : ipProtocols.ICMP,
      sourcePorts: icmp.icmp_type_range ?? anyType,
      destinationPorts: icmp.icmp_code_range ?? anyType,
      ...noFlags,
    };
  const ports = tcp ?? udp;
  const flags = tcp && { flagsMask: tcp.tcp_flags_mask, flagsValue: tcp.tcp_flags_value };
  return {
    protocol: tcp ? ipProtocols.TCP : udp ? ipProtocols.UDP : (ip?.protocol ?? 0),
    sourcePorts: rangeOf(ports?.source_port_range),
    destinationPorts: rangeOf(ports?.destination_port_range),
    ...(flags ?? noFlags),
  };
}

function rangeOf(
  range: { readonly lower_port: number; readonly upper_port: number } | undefined,
): Range {
  return range ? { first: range.lower_port, last: range.upper_port } : anyPort;
}

function matches(rule: ComparedRule, packet: ComparedPacket): boolean {
  return (
    (rule.protocol === 0 || rule.protocol === packet.protocol) &&
    has(rule.sourcePorts, packet.sourcePort) &&
    has(rule.destinationPorts, packet.destinationPort) &&
    (packet.tcpFlags & rule.flagsMask) === rule.flagsValue &&
    rule.source !== undefined &&
    contains(rule.source, packet.source) &&
    rule.destination !== undefined &&
    contains(rule.destination, packet.destination)
  );
}

function has({ first, last }: Range, port: number): boolean {
  return first <= port && port <= last;
}
