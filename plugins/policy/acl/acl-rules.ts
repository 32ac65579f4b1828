/** Conversion of tables to rules of VPP. */
import type { DeepInput } from '#models/model.ts';
import type { AclIpRule, AclRule } from '#models/vpp/acl.ts';
import { allPorts, type PolicyProtocol, PortSet, type ProtocolPorts } from '../port-set.ts';
import { isPermitAll, type Table, type TableEntry, withoutRedundantEnd } from './table.ts';

export type RuleInput = DeepInput<AclRule>;
type Action = AclRule['action'];

const TCP_SYN = 0x02;
const TCP_ACK = 0x10;
const SCTP = 132;
const anyPort = { lower_port: 0, upper_port: allPorts.last };

const anyNetworks = ['0.0.0.0/0', '::/0'] as const;

/** Rules that compare each packet on its own: no session makes them pass what a later table denies. */
export function tableRules(table: Table): RuleInput[] {
  const rules = table.flatMap((entry) => {
    const action: Action = entry.action === 'permit' ? 'PERMIT' : 'DENY';
    return portMatches(entry.ports).flatMap((ports) =>
      networkPairs(entry).map(([source, destination]) =>
        ruleOf(action, source, destination, ports, 'destination'),
      ),
    );
  });
  return isPermitAll(table) ? rules : [...neededRules, ...rules];
}

/** Of the rules of a table, without those that every table has. */
export function ruleCount(table: Table): number {
  let count = 0;
  for (const entry of table) count += portMatches(entry.ports).length * networkPairs(entry).length;
  return count;
}

/**
 * Rules for the other direction of the interface with the table. They make a session for a packet exactly
 * if the table would deny its reply: the replies then pass by the session. A packet that itself may be a reply makes
 * no session, which would let the other side pass after a stricter table has forbidden it:
 * - of TCP, only the packet that opens a connection makes a session. It makes one also where the table permits the
 *   reply, so that the connection continues after a stricter table came;
 * - of other protocols, no packet whose reply the table permits.
 * @param reflected result of `reflectedTable`
 * @param withoutSessions network whose packets pass without a session
 */
export function reflectingRules(reflected: Table, withoutSessions?: string): RuleInput[] {
  return [
    ...(withoutSessions === undefined ? [] : [sourceRule(withoutSessions)]),
    ...anyNetworks.flatMap((any): RuleInput[] => [
      tcpRule('REFLECT', any, { tcp_flags_mask: TCP_SYN | TCP_ACK, tcp_flags_value: TCP_SYN }),
      tcpRule('PERMIT', any, {}),
    ]),
    ...reflected.flatMap((entry) => {
      const action: Action = entry.action === 'permit' ? 'PERMIT' : 'REFLECT';
      return portMatches(entry.ports).flatMap((ports) =>
        networkPairs(entry).map(([source, destination]) =>
          ruleOf(action, destination, source, ports, 'source'),
        ),
      );
    }),
  ];
}

function sourceRule(network: string): RuleInput {
  const any = isV6(network) ? '::/0' : '0.0.0.0/0';
  return ruleOf('PERMIT', network, any, undefined, 'source');
}

/** The part of a table that decides about replies of the reflecting rules: all protocols but TCP. */
export function reflectedTable(table: Table): Table {
  const others = table.flatMap((entry) => {
    if (entry.ports.isAny) return [entry];
    const ranges = entry.ports.ranges().filter(({ protocol }) => protocol !== 'TCP');
    const ports = PortSet.of(ranges.filter(isComparable));
    return ports.isEmpty ? [] : [{ ...entry, ports }];
  });
  return withoutRedundantEnd(others);
}

/**
 * Rules for packets that every pod needs, whatever policies say. They begin each table that denies something:
 * - errors of ICMP, among them those about packets that are too big for a path: they belong to no session;
 * - neighbor discovery of IPv6, without which VPP does not find the pod;
 * - all fragments of a packet but the first, which contain no ports and belong to no session. The receiver drops
 *   them if the first one was denied. Nothing else has port 0.
 */
export const neededRules: readonly RuleInput[] = [
  icmpRule('0.0.0.0/0', 3, 3),
  icmpRule('0.0.0.0/0', 11, 12),
  icmpRule('::/0', 1, 4),
  icmpRule('::/0', 133, 137),
  ...anyNetworks.flatMap((any): RuleInput[] => {
    const ip = { source_network: any, destination_network: any };
    const port = { lower_port: 0, upper_port: 0 };
    const ports = { source_port_range: port, destination_port_range: port };
    return [
      { action: 'PERMIT', ip_rule: { ip, tcp: ports } },
      { action: 'PERMIT', ip_rule: { ip, udp: ports } },
    ];
  }),
];

function icmpRule(network: string, first: number, last: number): RuleInput {
  return {
    action: 'PERMIT',
    ip_rule: {
      ip: { source_network: network, destination_network: network },
      icmp: {
        icmpv6: isV6(network),
        icmp_type_range: { first, last },
        icmp_code_range: { first: 0, last: 255 },
      },
    },
  };
}

/** VPP compares no ports of SCTP. */
export function isComparable({ protocol, first, last }: ProtocolPorts): boolean {
  return protocol !== 'SCTP' || (first === allPorts.first && last === allPorts.last);
}

/** undefined: any protocol. Ports that VPP does not compare are left out, which is stricter. */
function portMatches(ports: PortSet): (ProtocolPorts | undefined)[] {
  return ports.isAny ? [undefined] : ports.ranges().filter(isComparable);
}

/** Networks of one family each. */
function networkPairs({ sources, destinations }: TableEntry): [string, string][] {
  return sources.prefixes().flatMap((source) =>
    destinations
      .prefixes()
      .filter((destination) => isV6(source) === isV6(destination))
      .map((destination): [string, string] => [source, destination]),
  );
}

function isV6(network: string): boolean {
  return network.includes(':');
}

function ruleOf(
  action: Action,
  source_network: string,
  destination_network: string,
  ports: ProtocolPorts | undefined,
  side: 'source' | 'destination',
): RuleInput {
  const ip = { source_network, destination_network };
  if (ports === undefined) return { action, ip_rule: { ip } };
  return { action, ip_rule: protocolMatch(ip, ports, side) };
}

function protocolMatch(
  ip: DeepInput<AclIpRule>['ip'],
  { protocol, first, last }: ProtocolPorts,
  side: 'source' | 'destination',
): DeepInput<AclIpRule> {
  // a whole protocol includes port 0
  const lower_port = first === allPorts.first && last === allPorts.last ? 0 : first;
  const range = { lower_port, upper_port: last };
  const ranges =
    side === 'source'
      ? { source_port_range: range, destination_port_range: anyPort }
      : { source_port_range: anyPort, destination_port_range: range };
  const matches: Record<PolicyProtocol, DeepInput<AclIpRule>> = {
    TCP: { ip, tcp: ranges },
    UDP: { ip, udp: ranges },
    SCTP: { ip: { ...ip, protocol: SCTP } },
  };
  return matches[protocol];
}

function tcpRule(
  action: Action,
  network: string,
  flags: { readonly tcp_flags_mask?: number; readonly tcp_flags_value?: number },
): RuleInput {
  return {
    action,
    ip_rule: {
      ip: { source_network: network, destination_network: network },
      tcp: { source_port_range: anyPort, destination_port_range: anyPort, ...flags },
    },
  };
}
