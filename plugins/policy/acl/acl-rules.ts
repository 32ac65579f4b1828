/** Conversion of tables to rules of VPP. */
import type { AclRule } from '#models/vpp/acl.ts';
import { allPorts, PortSet, type ProtocolPorts } from '../port-set.ts';
import {
  ANY_V4,
  ANY_V6,
  anyPacket,
  canonicalRule,
  icmpPackets,
  openingPackets,
  protocolPackets,
  type RuleMatch,
  tcpPackets,
  udpPackets,
} from './canonical-rule.ts';
import { prefixLists } from './prefix-lists.ts';
import { isPermitAll, type Table, type TableEntry, withoutRedundantEnd } from './table.ts';

type Action = AclRule['action'];

const SCTP = 132;

/** Rules that compare each packet on its own: no session makes them pass what a later table denies. */
export function tableRules(table: Table): AclRule[] {
  const rules: AclRule[] = isPermitAll(table) ? [] : [...neededRules];
  for (const entry of table) {
    const action: Action = entry.action === 'permit' ? 'PERMIT' : 'DENY';
    for (const match of matchesOf(entry, 'destination'))
      for (const [source, destination] of networkPairs(entry))
        rules.push(canonicalRule(action, source, destination, match));
  }
  return rules;
}

/** Of the rules of a table, without those that every table has. */
export function ruleCount(table: Table): number {
  let count = 0;
  for (const entry of table) {
    const { sources, destinations, ports } = entry;
    const [from, to] = [prefixLists(sources), prefixLists(destinations)];
    const pairs = from.v4.length * to.v4.length + from.v6.length * to.v6.length;
    count += pairs * (ports.isAny ? 1 : comparableRanges(entry).length);
  }
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
 */
export function reflectingRules(reflected: Table): AclRule[] {
  const rules = [...tcpReflectingRules];
  for (const entry of reflected) {
    const action: Action = entry.action === 'permit' ? 'PERMIT' : 'REFLECT';
    for (const match of matchesOf(entry, 'source'))
      for (const [source, destination] of networkPairs(entry))
        rules.push(canonicalRule(action, destination, source, match));
  }
  return rules;
}

const opening = openingPackets({});

const tcpReflectingRules: readonly AclRule[] = [ANY_V4, ANY_V6].flatMap((any) => [
  canonicalRule('REFLECT', any, any, opening),
  canonicalRule('PERMIT', any, any, tcpPackets({})),
]);

/** The part of a table that decides about replies of the reflecting rules: all protocols but TCP. */
export function reflectedTable(table: Table): Table {
  const others = table.flatMap((entry) => {
    if (entry.ports.isAny) return [entry];
    const ranges = comparableRanges(entry).filter(({ protocol }) => protocol !== 'TCP');
    const ports = PortSet.of(ranges);
    return ports.isEmpty ? [] : [{ ...entry, ports }];
  });
  return withoutRedundantEnd(others);
}

const noPort = { first: 0, last: 0 };
const fragments = { source: noPort, destination: noPort };

/**
 * All fragments of a packet but the first contain no ports, and VPP lets a rule with ports match them. These rules match
 * nothing else: nothing has port 0. The receiver drops the fragments if the first one was denied.
 */
export const fragmentRules: readonly AclRule[] = [ANY_V4, ANY_V6].flatMap((any) => [
  canonicalRule('PERMIT', any, any, tcpPackets(fragments)),
  canonicalRule('PERMIT', any, any, udpPackets(fragments)),
]);

/**
 * Rules for packets that every pod needs, whatever policies say. They begin each table that denies something:
 * - errors of ICMP, among them those about packets that are too big for a path: they belong to no session;
 * - neighbor discovery of IPv6, without which VPP does not find the pod;
 * - fragments, which belong to no session.
 */
const neededRules: readonly AclRule[] = [
  canonicalRule('PERMIT', ANY_V4, ANY_V4, icmpPackets(false, 3, 3)),
  canonicalRule('PERMIT', ANY_V4, ANY_V4, icmpPackets(false, 11, 12)),
  canonicalRule('PERMIT', ANY_V6, ANY_V6, icmpPackets(true, 1, 4)),
  canonicalRule('PERMIT', ANY_V6, ANY_V6, icmpPackets(true, 133, 137)),
  ...fragmentRules,
];

/** VPP compares no ports of SCTP. */
export function isComparable({ protocol, first, last }: ProtocolPorts): boolean {
  return protocol !== 'SCTP' || (first === allPorts.first && last === allPorts.last);
}

/** The stricter ones where VPP compares no ports: what permits some permits none, what denies some denies all. */
function comparableRanges({ action, ports: { ranges } }: TableEntry): readonly ProtocolPorts[] {
  const comparable = ranges.filter(isComparable);
  if (action === 'permit' || comparable.length === ranges.length) return comparable;
  return [...comparable, { protocol: 'SCTP', ...allPorts }];
}

function matchesOf(entry: TableEntry, side: 'source' | 'destination'): RuleMatch[] {
  if (entry.ports.isAny) return [anyPacket];
  return comparableRanges(entry).map(({ protocol, first, last }) => {
    // a whole protocol includes port 0
    const isWhole = first === allPorts.first && last === allPorts.last;
    const range = isWhole ? {} : { [side]: { first, last } };
    if (protocol === 'TCP') return tcpPackets(range);
    return protocol === 'UDP' ? udpPackets(range) : protocolPackets(SCTP);
  });
}

/** Networks of one family each. */
function* networkPairs({ sources, destinations }: TableEntry): Generator<[string, string]> {
  const [from, to] = [prefixLists(sources), prefixLists(destinations)];
  for (const family of ['v4', 'v6'] as const)
    for (const source of from[family])
      for (const destination of to[family]) yield [source, destination];
}
