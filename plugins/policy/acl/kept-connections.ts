/**
 * Connections of TCP that were open when the tables of an interface came. Replies to what was opened from behind an
 * interface pass its table by the session that the opening packet makes at its input; without ACLs it makes none. Rules
 * permit these connections by their addresses and ports instead, as long as the interface has a table.
 */
import type { AclRule } from '#models/vpp/acl.ts';
import type { Connection, ConnectionEnd } from '#plugins/controller/api/ports/host.ts';
import { canonicalRule, tcpPackets } from './canonical-rule.ts';
import type { RuleSource } from './rule-lists.ts';

/** As its packets leave by the interface. */
export interface KeptConnection {
  readonly source: ConnectionEnd;
  readonly destination: ConnectionEnd;
}

/** Of one interface: VPP forwards nothing while it takes in a table. */
export const MAX_KEPT = 1000;

const NO_PORT = 0;
const nowhere: ConnectionEnd = { address: '0.0.0.0', port: NO_PORT };

/**
 * Stands for connections that were not read yet: VPP holds it with the table, so that an agent that starts reads them. No
 * packet matches its rule.
 */
export const unread: KeptConnection = { source: nowhere, destination: nowhere };

/** To a pod, at its interface: what it has opened itself. */
export function openedByPod(connections: readonly Connection[]): readonly KeptConnection[] {
  return connections
    .filter(({ openedBy }) => openedBy === 'local')
    .map(({ local, remote }) => ({ source: remote, destination: local }));
}

/** From a pod, at the interfaces that lead out of the node: what others have opened. */
export function openedToPod(connections: readonly Connection[]): readonly KeptConnection[] {
  return connections
    .filter(({ openedBy }) => openedBy === 'remote')
    .map(({ local, remote }) => ({ source: local, destination: remote }));
}

/** Sorted, each once, and no more than VPP is to have. */
export function limited(all: readonly KeptConnection[]): readonly KeptConnection[] {
  const byText = new Map(all.map((one) => [textOf(one), one]));
  return [...byText]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, MAX_KEPT)
    .map(([, one]) => one);
}

/** The connections of one list that are in the other, too. */
export function amongThem(
  connections: readonly KeptConnection[],
  others: readonly KeptConnection[],
): readonly KeptConnection[] {
  const texts = new Set(others.map(textOf));
  return connections.filter((one) => texts.has(textOf(one)));
}

/** Whether some connections that were open before the table are unknown still. */
export function isUnread(kept: readonly KeptConnection[]): boolean {
  return kept.some(({ source }) => source.port === NO_PORT);
}

export function keptRules(kept: readonly KeptConnection[]): RuleSource {
  return { text: kept.map(textOf).join('; '), make: () => kept.map(ruleOf) };
}

function ruleOf({ source, destination }: KeptConnection): AclRule {
  const ports = { source: onePort(source), destination: onePort(destination) };
  return canonicalRule('REFLECT', hostOf(source), hostOf(destination), tcpPackets(ports));
}

function onePort({ port }: ConnectionEnd) {
  return { first: port, last: port };
}

function hostOf({ address }: ConnectionEnd): string {
  return `${address}/${address.includes(':') ? 128 : 32}`;
}

function textOf({ source, destination }: KeptConnection): string {
  return `${source.address} ${source.port} > ${destination.address} ${destination.port}`;
}
