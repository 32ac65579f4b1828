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

/**
 * Rules that compare each packet on its own: no session makes them pass what a later table denies.
 * @param hasIpv6 whether packets of IPv6 meet the table, of which VPP may not read the ports
 */
export function tableRules(table: Table, hasIpv6: boolean): AclRule[] {
  const rules: AclRule[] = isPermitAll(table) ? [] : [...neededRules];
  for (const { entry, isCut } of withCut(table, hasIpv6))
    rules.push(
      ...rulesOf(entry, {
        action: entry.action === 'permit' ? 'PERMIT' : 'DENY',
        matches: matchesOf(entry, 'destination'),
        isCut,
      }),
    );
  return rules;
}

/** Of the rules of a table, without those that every table has. */
export function ruleCount(table: Table, hasIpv6: boolean): number {
  let count = 0;
  for (const { entry, isCut } of withCut(table, hasIpv6)) {
    const { sources, destinations, ports } = entry;
    const [from, to] = [prefixLists(sources), prefixLists(destinations)];
    const matches = ports.isAny ? 1 : comparableRanges(entry).length;
    count += from.v4.length * to.v4.length * matches;
    count += from.v6.length * to.v6.length * (isCut ? readablePackets.length : matches);
  }
  return count;
}

interface CutEntry {
  readonly entry: TableEntry;
  /** Whether the entry stands for what VPP can read, where it is about IPv6. */
  readonly isCut: boolean;
}

/** A permit of everything that follows denied ports is cut: VPP drops what no rule matches. */
function* withCut(table: Table, hasIpv6: boolean): Generator<CutEntry> {
  let deniesPorts = false;
  for (const entry of table) {
    const { action, ports } = entry;
    yield { entry, isCut: hasIpv6 && deniesPorts && action === 'permit' && ports.isAny };
    deniesPorts ||= action === 'deny' && !ports.isAny;
  }
}

interface EntryRules {
  readonly action: Action;
  readonly matches: readonly RuleMatch[];
  readonly isCut: boolean;
  /** For the other direction: sources and destinations are exchanged. */
  readonly isReversed?: boolean;
}

function rulesOf(entry: TableEntry, { action, matches, isCut, isReversed }: EntryRules): AclRule[] {
  const { v4, v6 } = networkPairs(entry);
  const rules = (some: readonly RuleMatch[], pairs: readonly NetworkPair[]): AclRule[] =>
    some.flatMap((match) =>
      pairs.map(([source, destination]) =>
        isReversed
          ? canonicalRule(action, destination, source, match)
          : canonicalRule(action, source, destination, match),
      ),
    );
  return isCut
    ? [...rules(matches, v4), ...rules(readablePackets, v6)]
    : rules(matches, [...v4, ...v6]);
}

/**
 * Rules for the other direction of the interface with the table. They make a session for a packet exactly
 * if the table would deny its reply: the replies then pass by the session. A packet that itself may be a reply makes
 * no session, which would let the other side pass after a stricter table has forbidden it:
 * - of TCP, only the packet that opens a connection makes a session. It makes one also where the table permits the
 *   reply, so that the connection continues after a stricter table came;
 * - of other protocols, no packet whose reply the table permits.
 * - no packet of IPv6 that VPP cannot read: its session would let others pass that it cannot read, whatever their ports.
 *   Fragments pass the table in any case.
 * @param reflected result of `reflectedTable`
 */
export function reflectingRules(reflected: Table, hasIpv6: boolean): AclRule[] {
  const rules = [...(hasIpv6 ? fragmentRulesOf(ANY_V6) : []), ...tcpReflectingRules];
  for (const entry of reflected) {
    const isPermit = entry.action === 'permit';
    rules.push(
      ...rulesOf(entry, {
        action: isPermit ? 'PERMIT' : 'REFLECT',
        matches: matchesOf(entry, 'source'),
        isCut: hasIpv6 && !isPermit && entry.ports.isAny,
        isReversed: true,
      }),
    );
  }
  if (hasIpv6) rules.push(canonicalRule('PERMIT', ANY_V6, ANY_V6, anyPacket));
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
export const fragmentRules: readonly AclRule[] = [ANY_V4, ANY_V6].flatMap(fragmentRulesOf);

function fragmentRulesOf(any: string): AclRule[] {
  return [
    canonicalRule('PERMIT', any, any, tcpPackets(fragments)),
    canonicalRule('PERMIT', any, any, udpPackets(fragments)),
  ];
}

/**
 * Packets of IPv6 that VPP can read: a rule with a protocol matches only a packet whose upper-layer
 * header VPP has found. It does not find it beyond the first buffer (2 KiB), or in a first fragment that ends before
 * it; a rule for any protocol matches such a packet, too. Other protocols than these are denied beside a denied port.
 */
const readablePackets: readonly RuleMatch[] = [
  tcpPackets({}),
  udpPackets({}),
  icmpPackets(true, 0, 255),
  // SCTP, IPv4, IPv6, DCCP, GRE, ESP, AH, no next header, L2TP, UDP-Lite
  ...[SCTP, 4, 41, 33, 47, 50, 51, 59, 115, 136].map(protocolPackets),
];

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

type NetworkPair = readonly [source: string, destination: string];

/** Networks of one family each. */
function networkPairs({ sources, destinations }: TableEntry) {
  const [from, to] = [prefixLists(sources), prefixLists(destinations)];
  const pairs = (family: 'v4' | 'v6'): NetworkPair[] =>
    from[family].flatMap((source) =>
      to[family].map((destination): NetworkPair => [source, destination]),
    );
  return { v4: pairs('v4'), v6: pairs('v6') };
}
