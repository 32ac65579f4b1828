/** The cells of the matrix of reachability: who asks what in which family, and who is to answer. */
import type { Place } from '#test/services/service-cluster.ts';

export type Family = 4 | 6;

/** Pods a and b are on node1, x and y on node2. */
export const sources = {
  'pod a': { pod: 'a' },
  'pod y of node2': { pod: 'y' },
  'host of node1': { host: 'node1' },
  outside: 'outside',
} as const satisfies Readonly<Record<string, Place>>;
export type Source = keyof typeof sources;

/** Services are asked at node1. */
export const targets = {
  'pod b': { kind: 'pod', backends: ['b'] },
  'pod x of node2': { kind: 'pod', backends: ['x'] },
  'host port of b': { kind: 'host port', backends: ['b'] },
  'cluster IP': { kind: 'cluster IP', service: 'web' },
  'node port': { kind: 'node port', service: 'web' },
  'external IP': { kind: 'external IP', service: 'web' },
  'load balancer': { kind: 'load balancer', service: 'web' },
  'cluster IP, Local': { kind: 'cluster IP', service: 'local' },
  'node port, Local': { kind: 'node port', service: 'local' },
  'external IP, Local': { kind: 'external IP', service: 'local' },
  'load balancer, Local': { kind: 'load balancer', service: 'local' },
} as const;
export type Target = keyof typeof targets;

/** `local` has the external traffic policy Local. */
export const backendsOf = { web: ['b', 'x'], local: ['a', 'x'] } as const;
export type ServiceName = keyof typeof backendsOf;

/** The policy permits ingress of b and x from pod a alone; the host of a pod always reaches it. */
export const conditions = ['no policy', 'policy'] as const;
export type Condition = (typeof conditions)[number];

export interface Cell {
  readonly source: Source;
  readonly target: Target;
  readonly family: Family;
}

export const cellName = ({ source, target, family }: Cell) =>
  `${source} to ${target}, IPv${family}`;

export interface Edge {
  /** Families in which VPP translates what no socket has translated. */
  readonly serves: readonly Family[];
  /** Whether cnat translates what pods send outside in IPv6: then they are not asked from there at their own addresses. */
  readonly hidesPods: boolean;
  /** Whether a reply to a pod of another node passes cnat. */
  readonly repliesToPods: boolean;
}

/**
 * @returns the pods that answer, each of them some times; none: no answer
 */
export function expectedAnswers(cell: Cell, condition: Condition, edge: Edge): readonly string[] {
  const reached = served(cell, edge);
  return condition === 'no policy' ? reached : reached.filter((pod) => permits(cell.source, pod));
}

function served({ source, target, family }: Cell, edge: Edge): readonly string[] {
  const { serves, hidesPods, repliesToPods } = edge;
  const wanted = targets[target];
  const isServed = serves.includes(family);
  switch (wanted.kind) {
    case 'pod':
      return source === 'outside' && family === 6 && hidesPods ? [] : wanted.backends;
    case 'host port': {
      // sockets know the host ports of their own node; the reply to a pod of another node passes NAT44
      const isAtSocket = source === 'pod a' || source === 'host of node1';
      const isTranslated = isServed && (source === 'outside' || family === 4 || repliesToPods);
      return isAtSocket || isTranslated ? wanted.backends : [];
    }
    case 'cluster IP':
      return source === 'outside' ? [] : backendsOf[wanted.service];
    default: {
      if (source === 'outside' && !isServed) return [];
      // each node has its own backends there, for those that ask from elsewhere
      const asksElsewhere =
        source === 'outside' || (source === 'pod y of node2' && wanted.kind === 'node port');
      return wanted.service === 'local' && asksElsewhere ? ['a'] : backendsOf[wanted.service];
    }
  }
}

function permits(source: Source, pod: string): boolean {
  return pod === 'a' || source === 'pod a' || (source === 'host of node1' && pod === 'b');
}
