/** NetworkPolicies that permit what was seen, and no more. */
import type { PermissionUse, SeenEnd, SeenPair, SeenPolicies } from '#documents/flow-policies.ts';

interface Peer {
  readonly podSelector?: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly namespaceSelector?: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly ipBlock?: { readonly cidr: string };
}

interface Port {
  readonly protocol: 'TCP' | 'UDP';
  readonly port: number;
}

export interface SuggestedPolicy {
  readonly apiVersion: 'networking.k8s.io/v1';
  readonly kind: 'NetworkPolicy';
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    readonly podSelector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly policyTypes: readonly ['Ingress', 'Egress'];
    readonly ingress: readonly {
      readonly from: readonly Peer[];
      readonly ports: readonly Port[];
    }[];
    readonly egress: readonly { readonly to?: readonly Peer[]; readonly ports: readonly Port[] }[];
  };
}

export interface Suggestion {
  readonly policies: readonly SuggestedPolicy[];
  /** Parts that the policies cannot say exactly. */
  readonly notes: readonly string[];
}

/** Nearly all clients ask it first, and some not within the time that is seen. */
const DNS: readonly Port[] = [
  { protocol: 'UDP', port: 53 },
  { protocol: 'TCP', port: 53 },
];

/** @param seen of all nodes: each connection is that of one */
export function suggestPolicies(namespace: string, seen: readonly SeenPolicies[]): Suggestion {
  const pairs = merged(seen.flatMap(({ pairs: one }) => one));
  const notes: string[] = [];
  const workloads = new Map<string, SeenEnd>();
  for (const { client, server } of pairs)
    for (const end of [client, server]) if (isIn(end, namespace)) workloads.set(end.name, end);
  const policies: SuggestedPolicy[] = [];
  for (const own of [...workloads.values()].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (Object.keys(own.labels).length === 0) {
      notes.push(`${own.name}: no policy selects it, because its pods have no labels in common`);
      continue;
    }
    const peersOf = (side: 'client' | 'server') => {
      const other = side === 'client' ? 'server' : 'client';
      const peers = byPeer(
        pairs
          .filter((pair) => pair[side].name === own.name)
          .map(({ protocol, port, ...pair }) => [
            pair[other],
            { protocol: protocol || 'TCP', port },
          ]),
      );
      // a selector without labels would permit all pods of the namespace
      return peers.filter(([peer]) => {
        if (peer.kind !== 'pod' || Object.keys(peer.labels).length > 0) return true;
        notes.push(
          `seen-${nameOf(own)} does not permit ${peer.name}, whose pods were deleted or have no labels in common`,
        );
        return false;
      });
    };
    policies.push({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: `seen-${nameOf(own)}`, namespace },
      spec: {
        podSelector: { matchLabels: own.labels },
        policyTypes: ['Ingress', 'Egress'],
        ingress: peersOf('server').map(([peer, ports]) => ({
          from: [peerOf(peer, namespace)],
          ports,
        })),
        egress: [
          ...peersOf('client').map(([peer, ports]) => ({ to: [peerOf(peer, namespace)], ports })),
          { ports: DNS },
        ],
      },
    });
    for (const other of workloads.values())
      if (other.name !== own.name && selects(own.labels, other.labels))
        notes.push(
          `seen-${nameOf(own)} selects ${other.name}, too, which has all labels of ${own.name}`,
        );
  }
  return { policies, notes };
}

/** Rules that no connection has used at any node. */
export function unusedPermissions(seen: readonly SeenPolicies[]): PermissionUse[] {
  const sums = new Map<string, PermissionUse>();
  for (const use of seen.flatMap(({ permissions }) => permissions)) {
    const key = `${use.policy} ${use.direction} ${use.rule}`;
    const connections = (sums.get(key)?.connections ?? 0) + use.connections;
    sums.set(key, { ...use, connections });
  }
  return [...sums.values()].filter(({ connections }) => connections === 0);
}

function merged(all: readonly SeenPair[]): SeenPair[] {
  const found = new Map<string, SeenPair>();
  for (const pair of all)
    found.set(`${idOf(pair.client)} ${idOf(pair.server)} ${pair.protocol} ${pair.port}`, pair);
  return [...found.values()];
}

/** Ports of each other end, both sorted. */
function byPeer(ends: readonly (readonly [SeenEnd, Port])[]): [SeenEnd, Port[]][] {
  const found = new Map<string, [SeenEnd, Port[]]>();
  for (const [end, port] of ends) {
    const known = found.get(idOf(end));
    if (known) known[1].push(port);
    else found.set(idOf(end), [end, [port]]);
  }
  const all = [...found.values()].sort(([a], [b]) => (idOf(a) < idOf(b) ? -1 : 1));
  for (const [, ports] of all)
    ports.sort((a, b) => a.protocol.localeCompare(b.protocol) || a.port - b.port);
  return all;
}

function peerOf({ kind, name, labels, address }: SeenEnd, namespace: string): Peer {
  if (kind !== 'pod')
    return { ipBlock: { cidr: `${address}/${address.includes(':') ? 128 : 32}` } };
  const podSelector = { matchLabels: labels };
  const other = name.slice(0, name.indexOf('/'));
  return other === namespace
    ? { podSelector }
    : {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': other } },
        podSelector,
      };
}

/** A node has several addresses. */
function idOf({ name, address }: SeenEnd): string {
  return `${name} ${address}`;
}

function isIn({ kind, name }: SeenEnd, namespace: string): boolean {
  return kind === 'pod' && name.startsWith(`${namespace}/`);
}

function nameOf({ name }: SeenEnd): string {
  return name.slice(name.indexOf('/') + 1);
}

function selects(selector: SeenEnd['labels'], labels: SeenEnd['labels']): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}
