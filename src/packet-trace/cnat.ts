/**
 * cnat of VPP: what it does with a packet that is routed in table 0 to an address that it translates, or to one that it has given
 * to a client, as the node `ip6-cnat-tx` does.
 */

import { hostAndPort } from '#models/ip.ts';
import { type CnatTranslation, cnatTranslationModel } from '#models/vpp/cnat-translation.ts';
import { flowText, type NatFlow } from './nat-session.ts';
import type { Choose } from './nat-translations.ts';
import type { Packet } from './packet.ts';
import { valuesOf } from './values.ts';

/** The only table in which it translates. */
export const CNAT_TABLE = 0;

export interface CnatConfig {
  readonly translations: readonly CnatEntry[];
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
  readonly backend: CnatEnd;
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
  return cnatOf([...values]);
}

/** @returns undefined: there is none */
export function cnatOf(values: readonly CnatTranslation[]): CnatConfig | undefined {
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
  return { translations };
}

export interface CnatOutcome {
  readonly packet: Ends;
  readonly text: string;
  readonly key: string;
}

/**
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
  const flow = flowOf(packet, table);
  if (flow === undefined) return undefined;
  const index = indexOf(config);
  const known = sessions.rewrites.get(flowText(flow));
  // the sessions of a removed backend end
  if (known && index.byKey.get(known.key)?.backends.some((one) => areSame(one, known.backend)))
    return outcome(flow, known, index.byKey.get(known.key)!);
  const entry = index.byEnd.get(endText(flow.protocol, flow.destination, flow.destinationPort));
  if (entry === undefined) return undefined;
  const backend = choice(entry, sessions, flow.source, choose);
  const rewrite: CnatRewrite = {
    source: entry.source ?? flow.source,
    sourcePort: flow.sourcePort,
    destination: backend.address,
    destinationPort: backend.port,
    key: entry.key,
    backend,
    isReply: false,
  };
  sessions.rewrites.set(flowText(flow), rewrite);
  const reply = { ...swapped(rewrite), protocol: flow.protocol, table: CNAT_TABLE };
  sessions.rewrites.set(flowText(reply), {
    ...swapped(flow),
    key: entry.key,
    backend,
    isReply: true,
  });
  return outcome(flow, rewrite, entry);
}

/** undefined: cnat translates nothing of it. */
function flowOf(packet: Packet, table: number): NatFlow | undefined {
  const { protocol, source, destination, sourcePort = 0, destinationPort = 0 } = packet;
  if ((protocol !== 'TCP' && protocol !== 'UDP') || !destination.includes(':')) return undefined;
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

function outcome(flow: NatFlow, rewrite: CnatRewrite, { key, backends }: CnatEntry): CnatOutcome {
  const { source, sourcePort, destination, destinationPort, isReply } = rewrite;
  const [from, to] = [sourceOf(flow), sourceOf(rewrite)];
  const [asked, becomes] = [destinationOf(flow), destinationOf(rewrite)];
  const text = isReply
    ? `cnat, reply: ${from} is translated to ${to}${asked === becomes ? '' : `, and ${asked} to the client ${becomes}`}`
    : `cnat: ${asked} is translated to ${becomes}` +
      (backends.length === 1 ? '' : ` (one of ${backends.length} backends)`) +
      (from === to ? '' : `, and the client ${from} to ${to}`);
  return { packet: { source, sourcePort, destination, destinationPort }, text, key };
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
