/** Attacks on the REST server of an agent; see attacker.ts. */
export interface Attack {
  readonly kind: 'pipelined' | 'deaf' | 'idle' | 'slow' | 'huge' | 'malformed';
  readonly path: string;
  readonly connections: number;
  /** Number of addresses that the connections come from; 0: that of the agent itself. */
  readonly addresses: number;
  /** Sent at once on each connection. */
  readonly requests?: number;
  /** Milliseconds until a closed connection is opened again; default: 10. */
  readonly again?: number;
}

const METRICS = { path: '/metrics', addresses: 1 } as const;

export const attacks: Readonly<Record<string, Attack>> = {
  '2,000 requests for metrics at once on one connection': {
    ...METRICS,
    kind: 'pipelined',
    connections: 1,
    requests: 2_000,
  },
  '2,000 requests for metrics at once on each of ten connections': {
    ...METRICS,
    kind: 'pipelined',
    connections: 10,
    requests: 2_000,
  },
  'the same from the machine itself': {
    ...METRICS,
    kind: 'pipelined',
    connections: 10,
    requests: 2_000,
    addresses: 0,
  },
  'ten clients that do not read the metrics they request': {
    ...METRICS,
    kind: 'deaf',
    connections: 10,
    requests: 60,
  },
  'fifty clients that request the state of the scheduler': {
    kind: 'pipelined',
    path: '/scheduler/dump?view=SB&key-prefix=',
    connections: 50,
    requests: 20,
    addresses: 1,
  },
  'fifty clients that request the history of transactions and do not read it': {
    kind: 'deaf',
    path: '/scheduler/txn-history',
    connections: 50,
    requests: 20,
    addresses: 1,
  },
  'fifty clients that request the picture of the graph': {
    kind: 'pipelined',
    path: '/scheduler/graph',
    connections: 50,
    requests: 20,
    addresses: 1,
  },
  'fifty clients that send probes': {
    kind: 'pipelined',
    path: '/liveness',
    connections: 50,
    requests: 60,
    addresses: 1,
  },
  'a hundred clients that send probes': {
    kind: 'pipelined',
    path: '/liveness',
    connections: 100,
    requests: 2_000,
    addresses: 1,
  },
  '10,000 connections from 500 addresses': {
    kind: 'idle',
    path: '/metrics',
    connections: 10_000,
    addresses: 500,
    again: 1_000,
  },
  'a thousand clients that send requests and bodies byte by byte': {
    kind: 'slow',
    path: '/scheduler/plan',
    connections: 1_000,
    addresses: 50,
  },
  'a hundred clients that send huge requests': {
    kind: 'huge',
    path: '/scheduler/plan',
    connections: 100,
    addresses: 5,
    again: 50,
  },
  'two hundred clients that send malformed requests': {
    kind: 'malformed',
    path: '/scheduler/plan',
    connections: 200,
    addresses: 5,
  },
};
