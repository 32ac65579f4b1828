/** How NAT44 translates the first packet of a connection: it makes the session of all that follow. */
import type { NatBackend, NatMapping } from './nat-config.ts';
import { DEFAULT_TABLE, type NatIndex, poolAddress } from './nat-index.ts';
import {
  type NatEnd,
  type NatFlow,
  type NatRule,
  type NatSession,
  type NatSessions,
  reverse,
} from './nat-session.ts';
import { isWithinConnection, type Packet, type Protocol } from './packet.ts';

/** Chooses among ways with these weights, which are positive. @returns the place in the list */
export type Choose = (weights: readonly number[]) => number;

interface Dropped {
  readonly kind: 'dropped';
  readonly why: string;
  readonly key: string;
}

interface Made {
  readonly kind: 'made';
  readonly session: NatSession;
  /** The rule for the packet that made it. */
  readonly rule: NatRule;
}

export interface NatDeps {
  readonly index: NatIndex;
  readonly sessions: NatSessions;
  readonly choose: Choose;
  /** Whether a table has a route to an address that ends at an interface. */
  readonly hasRoute: (table: number, address: string) => boolean;
  /** Tables of the outside interfaces, in the order of their configuration. */
  readonly outsideTables: readonly number[];
}

/** VPP gives out no lower ports, and chooses at random; here it is the next free one. */
const FIRST_PORT = 1024;
const LAST_PORT = 65_534;

export class NatTranslations {
  readonly #deps: NatDeps;

  constructor(deps: NatDeps) {
    this.#deps = deps;
  }

  /** A client opens a connection to a mapping. */
  toBackend(flow: NatFlow, mapping: NatMapping): Made | Dropped {
    const { sessions } = this.#deps;
    const { key, label } = mapping;
    if (!sessions.hasRoom(flow.table, 'static')) return full(key);
    const backend = this.#backend(flow, mapping);
    if (backend === undefined) return dropped('the mapping has no backend', key);
    const isBalanced = mapping.backends.length > 1;
    const inside = {
      address: backend.address,
      port: mapping.port === 0 ? flow.destinationPort : backend.port,
      table: backend.table,
    };
    const client: NatEnd = { address: flow.source, port: flow.sourcePort };
    const isSelf = mapping.twiceNat === 'SELF' && flow.source === backend.address;
    let seen = client;
    if (mapping.twiceNat === 'ENABLED' || isSelf) {
      const found = this.#twiceNatEnd(flow, mapping, inside);
      if (found === undefined) return dropped('the twice-NAT pool has no free address', key);
      seen = found;
    }
    const out2in: NatRule = {
      match: flow,
      source: seen.address,
      sourcePort: seen.port,
      destination: inside.address,
      destinationPort: inside.port,
      table: inside.table,
    };
    const session: NatSession = {
      kind: isBalanced ? 'balanced' : 'static',
      protocol: flow.protocol,
      inside,
      outside: { address: flow.destination, port: flow.destinationPort, table: flow.table },
      externalHost: client,
      externalHostNat: seen === client ? undefined : seen,
      hasAffinity: isBalanced && mapping.affinity > 0,
      isHairpinning: false,
      out2in,
      in2out: {
        match: flowFrom(flow.protocol, inside, seen, inside.table),
        source: flow.destination,
        sourcePort: flow.destinationPort,
        destination: client.address,
        destinationPort: client.port,
        table: undefined,
      },
      key,
      label,
    };
    sessions.add(session);
    return { kind: 'made', session, rule: out2in };
  }

  #backend(flow: NatFlow, mapping: NatMapping): NatBackend | undefined {
    const { sessions, choose } = this.#deps;
    const { backends, affinity } = mapping;
    if (backends.length < 2) return backends[0];
    const client = {
      client: flow.source,
      address: flow.destination,
      port: flow.destinationPort,
      protocol: flow.protocol,
    };
    const known = affinity > 0 ? sessions.affinity(client) : undefined;
    if (known) return known;
    const candidates = backends.filter(({ weight }) => weight > 0);
    const among = candidates.length > 0 ? candidates : backends;
    const chosen = among[choose(among.map(({ weight }) => weight || 1))];
    if (chosen && affinity > 0) sessions.addAffinity(client, chosen, affinity);
    return chosen;
  }

  #twiceNatEnd(
    { protocol }: NatFlow,
    { twiceNatAddress }: NatMapping,
    inside: NatSession['inside'],
  ): NatEnd | undefined {
    const { twiceNatPool } = this.#deps.index.config;
    const found =
      twiceNatPool.find((one) => one.address === twiceNatAddress) ??
      poolAddress(twiceNatPool, inside.address, inside.table, 'twice');
    if (found === undefined) return undefined;
    const { address } = found;
    const isFree = (port: number): boolean =>
      !this.#deps.sessions.find(flowFrom(protocol, inside, { address, port }, inside.table));
    const port = freePort(FIRST_PORT, isFree);
    return port === undefined ? undefined : { address, port };
  }

  /** Remembers traffic that passes untranslated. */
  bypass(flow: NatFlow): void {
    const { sessions } = this.#deps;
    const [client, inside] = [endOf(flow, 'source'), endOf(flow, 'destination')];
    const reply = reverse(flow, flow.table);
    if (sessions.find(reply) || !sessions.hasRoom(flow.table, 'bypass')) return;
    sessions.add({
      kind: 'bypass',
      protocol: flow.protocol,
      inside: { ...inside, table: flow.table },
      outside: { ...inside, table: flow.table },
      externalHost: client,
      externalHostNat: undefined,
      hasAffinity: false,
      isHairpinning: false,
      in2out: { ...reply, match: reply },
      out2in: undefined,
      key: '',
      label: '',
    });
  }

  /** Traffic of the inside leaves: its source is translated, unless an identity exempts it. */
  toOutside(flow: NatFlow, packet: Packet): Made | Dropped | 'exempt' {
    const { index, sessions } = this.#deps;
    if (!sessions.hasRoom(flow.table, 'dynamic')) return full('');
    const { protocol, source, sourcePort } = flow;
    const entry = index.byLocal(source, sourcePort, protocol, flow.table);
    if (entry?.kind === 'identity') return 'exempt';
    const mapping = entry?.mapping;
    if (isWithinConnection(packet))
      return dropped('NAT has no session of the TCP connection', mapping?.key ?? '');
    const table = this.#outsideTable(flow.destination);
    const { end: target, isMapped } = this.#hairpin(flow);
    const outside = mapping
      ? { address: mapping.address, port: mapping.port || sourcePort, key: mapping.key }
      : this.#sourceNatEnd(flow, target, table);
    if (outside === undefined) return dropped('the NAT pool has no free address', '');
    const inside: NatEnd = { address: source, port: sourcePort };
    const isEcho = protocol === 'ICMP';
    const from: NatEnd = isEcho ? { ...target, port: outside.port } : target;
    const in2out: NatRule = {
      match: flow,
      source: outside.address,
      sourcePort: outside.port,
      destination: target.address,
      destinationPort: from.port,
      table,
    };
    const session: NatSession = {
      kind: mapping ? 'static' : 'dynamic',
      protocol,
      inside: { ...inside, table: flow.table },
      outside: { address: outside.address, port: outside.port, table },
      externalHost: endOf(flow, 'destination'),
      externalHostNat: undefined,
      hasAffinity: false,
      isHairpinning: isMapped,
      in2out,
      out2in: {
        match: flowFrom(protocol, from, outside, table),
        source: flow.destination,
        sourcePort: isEcho ? sourcePort : from.port,
        destination: inside.address,
        destinationPort: inside.port,
        table: flow.table,
      },
      key: outside.key,
      label: mapping?.label ?? '',
    };
    sessions.add(session);
    return { kind: 'made', session, rule: in2out };
  }

  /** The inside address that the destination is mapped to. VPP finds none behind several backends. */
  #hairpin({ destination, destinationPort, protocol }: NatFlow): {
    readonly end: NatEnd;
    readonly isMapped: boolean;
  } {
    const entry = this.#deps.index.byExternal(destination, destinationPort, protocol);
    const same = { address: destination, port: destinationPort };
    if (entry === undefined || entry.kind === 'identity')
      return { end: same, isMapped: entry !== undefined };
    const { port, backends } = entry.mapping;
    const [backend] = backends;
    if (backend === undefined || backends.length > 1)
      return { end: { address: '0.0.0.0', port: 0 }, isMapped: true };
    return {
      end: { address: backend.address, port: port === 0 ? destinationPort : backend.port },
      isMapped: true,
    };
  }

  /** The first table of an outside interface that has a route to the destination. */
  #outsideTable(destination: string): number {
    const { outsideTables, hasRoute } = this.#deps;
    return outsideTables.find((table) => hasRoute(table, destination)) ?? DEFAULT_TABLE;
  }

  #sourceNatEnd(
    { protocol, source, sourcePort, table: inTable }: NatFlow,
    target: NatEnd,
    table: number,
  ): (NatEnd & { readonly key: string }) | undefined {
    const { index, sessions } = this.#deps;
    const found = poolAddress(index.config.pool, source, inTable, 'source');
    if (found === undefined) return undefined;
    const { address, key } = found;
    const isFree = (port: number): boolean => {
      if (index.exact(address, port, protocol)) return false;
      const from = protocol === 'ICMP' ? { ...target, port } : target;
      return !sessions.find(flowFrom(protocol, from, { address, port }, table));
    };
    const port = freePort(sourcePort, isFree);
    return port === undefined ? undefined : { address, port, key };
  }
}

function endOf(flow: NatFlow, of: 'source' | 'destination'): NatEnd {
  return of === 'source'
    ? { address: flow.source, port: flow.sourcePort }
    : { address: flow.destination, port: flow.destinationPort };
}

function flowFrom(protocol: Protocol, from: NatEnd, to: NatEnd, table: number): NatFlow {
  return {
    protocol,
    source: from.address,
    sourcePort: from.port,
    destination: to.address,
    destinationPort: to.port,
    table,
  };
}

function freePort(wanted: number, isFree: (port: number) => boolean): number | undefined {
  const first = wanted >= FIRST_PORT && wanted <= LAST_PORT ? wanted : FIRST_PORT;
  for (let port = first; port <= LAST_PORT; port++) if (isFree(port)) return port;
  for (let port = FIRST_PORT; port < first; port++) if (isFree(port)) return port;
  return undefined;
}

function dropped(why: string, key: string): Dropped {
  return { kind: 'dropped', why, key };
}

function full(key: string): Dropped {
  return dropped('the NAT session table is full', key);
}
