/**
 * cnat of VPP: what it does with a packet that is routed in table 0 to an address that it translates, or to one that it has given
 * to a client, as the node `ip6-cnat-tx` does; and with one that enters by the interface of its source NAT (`cnat-snat-ip6-return`).
 */

import { hostAndPort } from '#models/ip.ts';
import { type CnatSourceNat, cnatSourceNatModel } from '#models/vpp/cnat-source-nat.ts';
import { type CnatTranslation, cnatTranslationModel } from '#models/vpp/cnat-translation.ts';
import { flowText, type NatFlow } from './nat-session.ts';
import type { Choose } from './nat-translations.ts';
import type { Packet } from './packet.ts';
import { valuesOf } from './values.ts';

/** The only table in which it translates. */
export const CNAT_TABLE = 0;

const MAX_PORT = 65_535;

export interface CnatConfig {
  readonly translations: readonly CnatEntry[];
  readonly sourceNat: CnatSource | undefined;
}

/** Source NAT of what enters table 0 by an interface. */
export interface CnatSource {
  /** Key of the value that configures it. */
  readonly key: string;
  readonly interface: string;
  readonly address: string;
}

export interface CnatEntry {
  /** Key of the value that configures it. */
  readonly key: string;
  readonly protocol: 'TCP' | 'UDP';
  readonly address: string;
  readonly port: number;
  /** Replaces the client; undefined: it stays. */
  readonly source: string | undefined;
  readonly hasAffinity: boolean;
  readonly backends: readonly CnatEnd[];
}

export interface CnatEnd {
  readonly address: string;
  readonly port: number;
}

type Ends = Pick<NatFlow, 'source' | 'sourcePort' | 'destination' | 'destinationPort'>;

/** How the packets of one direction of a connection are translated. */
interface CnatRewrite extends Ends {
  readonly key: string;
  /** undefined: of source NAT. */
  readonly backend: CnatEnd | undefined;
  readonly isReply: boolean;
}

/** The memory of one VPP. */
export interface CnatSessions {
  /** By the flow of its packets. */
  readonly rewrites: Map<string, CnatRewrite>;
  /** Backends of clients with affinity. */
  readonly affinities: Map<string, CnatEnd>;
}

export function cnatSessions(base?: CnatSessions): CnatSessions {
  return { rewrites: new Map(base?.rewrites), affinities: new Map(base?.affinities) };
}

export function cnatOfValues(all: ReadonlyMap<string, unknown>): CnatConfig | undefined {
  const values = valuesOf<CnatTranslation>(cnatTranslationModel, all).values();
  const [sourceNat] = valuesOf<CnatSourceNat>(cnatSourceNatModel, all).values();
  return cnatOf([...values], sourceNat);
}

/** @returns undefined: there is none */
export function cnatOf(
  values: readonly CnatTranslation[],
  sourceNat: CnatSourceNat | undefined,
): CnatConfig | undefined {
  if (values.length === 0) return undefined;
  const translations = values.map((one) => ({
    key: cnatTranslationModel.key(one),
    protocol: one.protocol,
    address: one.external_ip,
    port: one.external_port,
    source: one.source_ip === '' ? undefined : one.source_ip,
    hasAffinity: one.client_affinity,
    backends: one.backends.map(({ ip_address, port }) => ({ address: ip_address, port })),
  }));
  return {
    translations,
    sourceNat: sourceNat && { ...sourceNat, key: cnatSourceNatModel.key(sourceNat) },
  };
}

export interface CnatOutcome {
  readonly packet: Ends;
  readonly text: string;
  readonly key: string;
}

/**
 * Of a packet that is looked up in table 0.
 *
 * @param table of the interface by which the packet entered: sessions are of a table
 * @returns undefined: it is not translated
 */
export function translateByCnat(
  config: CnatConfig,
  sessions: CnatSessions,
  packet: Packet,
  table: number,
  choose: Choose,
): CnatOutcome | undefined {
  return translated(config, sessions, flowOf(packet, table), (flow) => {
    const { byEnd } = indexOf(config);
    const entry = byEnd.get(endText(flow.protocol, flow.destination, flow.destinationPort));
    return entry && entryRewrite(entry, sessions, flow, choose);
  });
}

/** Of a packet that enters by the interface of the source NAT. */
export function translateSource(
  config: CnatConfig,
  { address: source, key }: CnatSource,
  sessions: CnatSessions,
  packet: Packet,
): CnatOutcome | undefined {
  return translated(config, sessions, flowOf(packet, CNAT_TABLE), (flow) => {
    const sourcePort = freePort(sessions, { ...flow, source });
    return { ...flow, source, sourcePort, key, backend: undefined, isReply: false };
  });
}

function translated(
  config: CnatConfig,
  sessions: CnatSessions,
  flow: NatFlow | undefined,
  begin: (flow: NatFlow) => CnatRewrite | undefined,
): CnatOutcome | undefined {
  if (flow === undefined) return undefined;
  const index = indexOf(config);
  const known = sessions.rewrites.get(flowText(flow));
  if (known && isAlive(known, config, index)) return outcome(flow, known, index);
  const rewrite = begin(flow);
  if (rewrite === undefined) return undefined;
  sessions.rewrites.set(flowText(flow), rewrite);
  sessions.rewrites.set(flowText(replyFlow({ ...flow, ...endsOf(rewrite) })), {
    ...swapped(flow),
    key: rewrite.key,
    backend: rewrite.backend,
    isReply: true,
  });
  return outcome(flow, rewrite, index);
}

/** The sessions of a removed backend end. */
function isAlive({ key, backend }: CnatRewrite, config: CnatConfig, index: CnatIndex): boolean {
  if (backend === undefined) return config.sourceNat !== undefined;
  return index.byKey.get(key)?.backends.some((one) => areSame(one, backend)) ?? false;
}

function entryRewrite(
  entry: CnatEntry,
  sessions: CnatSessions,
  flow: NatFlow,
  choose: Choose,
): CnatRewrite {
  const backend = choice(entry, sessions, flow.source, choose);
  return {
    source: entry.source ?? flow.source,
    sourcePort: flow.sourcePort,
    destination: backend.address,
    destinationPort: backend.port,
    key: entry.key,
    backend,
    isReply: false,
  };
}

/** Source NAT keeps the port of a client while no other session has it. */
function freePort({ rewrites }: CnatSessions, flow: NatFlow): number {
  for (let port = flow.sourcePort; port <= MAX_PORT; port++)
    if (!rewrites.has(flowText(replyFlow({ ...flow, sourcePort: port })))) return port;
  return flow.sourcePort;
}

/** Replies are found in table 0 alone. */
function replyFlow(flow: NatFlow): NatFlow {
  return { ...swapped(flow), protocol: flow.protocol, table: CNAT_TABLE };
}

/** undefined: cnat translates nothing of it. */
function flowOf(packet: Packet, table: number): NatFlow | undefined {
  const { protocol, source, destination, sourcePort = 0, destinationPort = 0 } = packet;
  if (protocol === undefined || protocol === 'SCTP' || !destination.includes(':')) return undefined;
  return { protocol, source, sourcePort, destination, destinationPort, table };
}

function choice(
  { backends, hasAffinity, key }: CnatEntry,
  { affinities }: CnatSessions,
  client: string,
  choose: Choose,
): CnatEnd {
  const of = `${client} ${key}`;
  const before = hasAffinity ? affinities.get(of) : undefined;
  const kept = before && backends.find((one) => areSame(one, before));
  const chosen = kept ?? backends[backends.length === 1 ? 0 : choose(backends.map(() => 1))]!;
  if (hasAffinity) affinities.set(of, chosen);
  return chosen;
}

function outcome(flow: NatFlow, rewrite: CnatRewrite, index: CnatIndex): CnatOutcome {
  return { packet: endsOf(rewrite), text: textOf(flow, rewrite, index), key: rewrite.key };
}

function textOf(flow: NatFlow, rewrite: CnatRewrite, { byKey }: CnatIndex): string {
  const { key, backend, isReply } = rewrite;
  const [from, to] = [sourceOf(flow), sourceOf(rewrite)];
  const [asked, becomes] = [destinationOf(flow), destinationOf(rewrite)];
  if (backend === undefined)
    return isReply
      ? `cnat, reply: ${asked} is translated to ${becomes}`
      : `cnat: the source ${from} is translated to ${to}`;
  if (isReply) {
    const client = asked === becomes ? '' : `, and ${asked} to the client ${becomes}`;
    return `cnat, reply: ${from} is translated to ${to}${client}`;
  }
  const backends = byKey.get(key)?.backends.length ?? 1;
  const among = backends === 1 ? '' : ` (one of ${backends} backends)`;
  const client = from === to ? '' : `, and the client ${from} to ${to}`;
  return `cnat: ${asked} is translated to ${becomes}${among}${client}`;
}

function endsOf({ source, sourcePort, destination, destinationPort }: Ends): Ends {
  return { source, sourcePort, destination, destinationPort };
}

function sourceOf({ source, sourcePort }: Ends): string {
  return hostAndPort({ address: source, port: sourcePort });
}

function destinationOf({ destination, destinationPort }: Ends): string {
  return hostAndPort({ address: destination, port: destinationPort });
}

function swapped({ source, sourcePort, destination, destinationPort }: Ends): Ends {
  return {
    source: destination,
    sourcePort: destinationPort,
    destination: source,
    destinationPort: sourcePort,
  };
}

function areSame(a: CnatEnd, b: CnatEnd): boolean {
  return a.address === b.address && a.port === b.port;
}

interface CnatIndex {
  readonly byEnd: ReadonlyMap<string, CnatEntry>;
  readonly byKey: ReadonlyMap<string, CnatEntry>;
}

const indexes = new WeakMap<CnatConfig, CnatIndex>();

function indexOf(config: CnatConfig): CnatIndex {
  const known = indexes.get(config);
  if (known) return known;
  const { translations } = config;
  const index = {
    byEnd: new Map(
      translations.map((one) => [endText(one.protocol, one.address, one.port), one] as const),
    ),
    byKey: new Map(translations.map((one) => [one.key, one] as const)),
  };
  indexes.set(config, index);
  return index;
}

function endText(protocol: string, address: string, port: number): string {
  return `${protocol} ${address} ${port}`;
}
