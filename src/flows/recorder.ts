import type { Flow } from '#documents/flows.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import type {
  AnyConnectionEvent,
  ConnectionCounters,
  ConnectionEvent,
  OngoingConnection,
} from '#linux/socket-flows/api.ts';
import type { FlowReason } from './flow-reason.ts';
import type { FlowRing } from './flow-ring.ts';
import type { Peers } from './peers.ts';

export interface RecorderDeps {
  /** Name of this node. */
  readonly label: string;
  readonly peers: Peers;
  readonly ring: FlowRing;
  readonly isSimulated: boolean;
  readonly clock: Clock;
  /** A record is new, or has changed; `before` is what it was. */
  readonly onChange: (flow: Flow, before: Flow | undefined) => void;
}

/** Makes records of the events of connections. Names are those of the moment of the first event. */
export class Recorder {
  readonly #deps: RecorderDeps;

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
  }

  record(event: ConnectionEvent): void {
    const before = this.#deps.ring.get(event.id)?.flow;
    this.#put(changed(before ?? this.#begun(event), event), before, event.time);
  }

  /** A connection continues; it may be one of the time before this agent. */
  measure(connection: OngoingConnection): void {
    const { ring } = this.#deps;
    const { id, side, time, isAnswered, stalledMs } = connection;
    const before = ring.get(id)?.flow;
    // its end was read meanwhile
    if (before?.ended !== undefined || !isAnswered) return;
    const base = before ?? this.#begun(connection);
    const counters = { ...countersOf(side, connection), stalledMs: Math.round(stalledMs) };
    if (before?.verdict === 'open' && before.measured !== undefined && isSame(before, counters))
      return;
    this.#put(
      { ...base, verdict: 'open', reason: '', ...counters, measured: rfc3339(time) },
      before,
      time,
    );
  }

  /** A connection has ended, and no event has reported it. */
  endUnreported(id: string): void {
    const { ring, clock } = this.#deps;
    const before = ring.get(id)?.flow;
    if (!before || before.ended !== undefined) return;
    const now = clock.now();
    const { measured: _, ...flow } = before;
    this.#put({ ...flow, ended: rfc3339(now), reason: flow.reason || UNREPORTED }, before, now);
  }

  /** The reason why a connection was refused or not answered, found later. */
  explain(id: string, { verdict, reason }: FlowReason): void {
    const { ring } = this.#deps;
    const record = ring.get(id);
    if (!record) return;
    // it may have been answered meanwhile
    if (record.flow.verdict !== 'no-answer' && record.flow.verdict !== verdict) return;
    this.#put({ ...record.flow, verdict, reason }, record.flow, record.changedAt);
    ring.notify();
  }

  #put(flow: Flow, before: Flow | undefined, changedAt: number): void {
    this.#deps.ring.put({ flow, changedAt });
    this.#deps.onChange(flow, before);
  }

  #begun({ id, side, begun, isOfHost, local, remote, service }: AnyConnectionEvent): Flow {
    const { label, peers, isSimulated } = this.#deps;
    const isClient = side === 'client';
    const own = isOfHost
      ? peers.host
      : peers.find(local.address, isClient ? undefined : local.port);
    const other = peers.find(remote.address, isClient ? remote.port : undefined);
    const ownEnd = peers.end(local.address, local.port, own, !isClient);
    const otherEnd = peers.end(remote.address, remote.port, other, isClient);
    return {
      id,
      node: label,
      side,
      time: rfc3339(begun),
      protocol: 'TCP',
      verdict: 'open',
      reason: '',
      client: isClient ? ownEnd : otherEnd,
      server: isClient ? otherEnd : ownEnd,
      ...(service && {
        service: { name: peers.serviceAt(service.address, service.port), ...service },
      }),
      clientBytes: 0,
      serverBytes: 0,
      rttUs: 0,
      retransmissions: 0,
      stalledMs: 0,
      ...(isSimulated && { isSimulated }),
    };
  }
}

function changed({ measured: _, ...flow }: Flow, event: ConnectionEvent): Flow {
  if (event.kind === 'opened') return { ...flow, verdict: 'open', reason: '' };
  // what was found out stays
  const unanswered = flow.verdict === 'denied' ? {} : ({ verdict: 'no-answer' } as const);
  if (event.kind === 'unanswered') return { ...flow, ...unanswered };
  const { side, time, outcome } = event;
  const ended = rfc3339(time);
  if (outcome === 'refused') return { ...flow, verdict: 'refused', ended, reason: REFUSED };
  if (outcome === 'unanswered') return { ...flow, ...unanswered, ended };
  return { ...flow, ended, ...countersOf(side, event) };
}

type FlowCounters = Pick<Flow, 'clientBytes' | 'serverBytes' | 'rttUs' | 'retransmissions'>;

function countersOf(
  side: Flow['side'],
  { sent, received, rttUs, retransmissions }: ConnectionCounters,
): FlowCounters {
  const [clientBytes, serverBytes] = side === 'client' ? [sent, received] : [received, sent];
  return { clientBytes, serverBytes, rttUs, retransmissions };
}

/** Without the time of a round trip, which differs a little each time. */
function isSame(
  flow: Flow,
  { clientBytes, serverBytes, retransmissions, stalledMs }: FlowCounters & Pick<Flow, 'stalledMs'>,
): boolean {
  return (
    flow.clientBytes === clientBytes &&
    flow.serverBytes === serverBytes &&
    flow.retransmissions === retransmissions &&
    flow.stalledMs === stalledMs
  );
}

const UNREPORTED = 'its end was not reported: the event was lost, and what it has sent since, too';

const REFUSED =
  'the other end has refused it: no process listens there, or a service has no endpoints';
