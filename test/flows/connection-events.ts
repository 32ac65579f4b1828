/** Events of connections for tests. */
import type {
  BegunConnection,
  EndedConnection,
  OngoingConnection,
  OpenedConnection,
  UnansweredConnection,
} from '#linux/socket-flows/api.ts';

const BEGUN = Date.parse('2026-01-31T12:00:00Z');

type Base = Omit<OpenedConnection, 'kind'>;

function base(id: string, given: Partial<Base>): Base {
  return {
    id,
    protocol: 'TCP',
    time: BEGUN,
    begun: BEGUN,
    side: 'client',
    isOfHost: false,
    local: { address: '10.1.1.2', port: 40_000 },
    remote: { address: '10.1.2.3', port: 80 },
    service: undefined,
    ...given,
  };
}

/** Makes the events of this file those of a conversation of UDP. */
export const datagrams = {
  protocol: 'UDP',
  remote: { address: '10.1.2.3', port: 53 },
} as const;

export function begun(id: string, given: Partial<Base> = {}): BegunConnection {
  return { kind: 'begun', ...base(id, { ...datagrams, ...given }) };
}

export function opened(id: string, given: Partial<Base> = {}): OpenedConnection {
  return { kind: 'opened', ...base(id, given) };
}

export function unanswered(id: string, given: Partial<Base> = {}): UnansweredConnection {
  return { kind: 'unanswered', ...base(id, { time: BEGUN + 1_000, ...given }) };
}

export function ended(id: string, given: Partial<EndedConnection> = {}): EndedConnection {
  return {
    ...base(id, { time: BEGUN + 2_000 }),
    kind: 'ended',
    outcome: 'closed',
    sent: 100,
    received: 2_000,
    rttUs: 250,
    retransmissions: 1,
    ...given,
  };
}

export function goesOn(id: string, given: Partial<OngoingConnection> = {}): OngoingConnection {
  return {
    ...base(id, { time: BEGUN + 60_000 }),
    kind: 'goes-on',
    isAnswered: true,
    sent: 0,
    received: 0,
    rttUs: 250,
    retransmissions: 0,
    stalledMs: 0,
    ...given,
  };
}
