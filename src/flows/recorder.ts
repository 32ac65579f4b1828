import type { Flow } from '#documents/flows.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import type {
  AnyConnectionEvent,
  BegunConnection,
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
  /** Absent: sockets. */
  readonly seenBy?: Flow['seenBy'];
  readonly clock: Clock;
  /** A record is new, or has changed; `before` is what it was. */
  readonly onChange: (flow: Flow, before: Flow | undefined) => void;
}

/** A client of UDP waits so long for an answer before its record says that there is none: as TCP, which sends again then. */
const ANSWER_MS = 1_000;
/** More that wait have their record at once. */
const MAX_WAITING = 10_000;

/** Makes records of the events of connections. Names are those of the moment of the first event. */
export class Recorder {
  readonly #deps: RecorderDeps;
  /** Begun, and not answered yet, by id; the oldest first. */
  readonly #waiting = new Map<string, BegunConnection>();

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
  }

  record(event: ConnectionEvent): void {
    if (event.kind === 'begun') {
      this.#waiting.set(event.id, event);
      return;
    }
    this.#waiting.delete(event.id);
    const before = this.#deps.ring.get(event.id)?.flow;
    this.#put(changed(before ?? this.#begun(event), event), before, event.time);
  }

  /** Connections that have begun and were not answered in time get their records. @returns whether something has */
  settle(): boolean {
    const now = this.#deps.clock.now();
    let isAny = false;
    for (const [id, event] of this.#waiting) {
      if (now - event.begun < ANSWER_MS && this.#waiting.size <= MAX_WAITING) break;
      this.#waiting.delete(id);
      this.#put({ ...this.#begun(event), verdict: 'no-answer' }, undefined, now);
      isAny = true;
    }
    return isAny;
  }

  /** A connection continues; it may be one of the time before this agent. */
  measure(connection: OngoingConnection): void {
    const { ring } = this.#deps;
    const { id, side, protocol, time, isAnswered, stalledMs } = connection;
    const before = ring.get(id)?.flow;
    // its end was read meanwhile
    if (before?.ended !== undefined) return;
    // TCP tells itself that there was no answer
    if (!isAnswered && (protocol === 'TCP' || this.#waiting.has(id))) return;
    const base = before ?? this.#begun(connection);
    const counters = { ...countersOf(side, connection), stalledMs: Math.round(stalledMs) };
    const outcome = isAnswered ? ({ verdict: 'open', reason: '' } as const) : unanswered(base);
    if (
      before?.verdict === outcome.verdict &&
      before.measured !== undefined &&
      isSame(before, counters)
    )
      return;
    this.#put({ ...base, ...outcome, ...counters, measured: rfc3339(time) }, before, time);
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

  #begun(event: AnyConnectionEvent): Flow {
    const { id, protocol, side, begun, isOfHost, local, remote, service } = event;
    const { label, peers, isSimulated, seenBy } = this.#deps;
    const isClient = side === 'client';
    const { port } = isClient ? remote : local;
    const own = isOfHost
      ? peers.host
      : peers.find(local.address, isClient ? undefined : { protocol, port });
    const other = peers.find(remote.address, isClient ? { protocol, port } : undefined);
    const ownEnd = peers.end(local.address, local.port, own, !isClient);
    const otherEnd = peers.end(remote.address, remote.port, other, isClient);
    return {
      id,
      node: label,
      ...(seenBy && { seenBy }),
      side,
      time: rfc3339(begun),
      protocol,
      verdict: 'open',
      reason: '',
      client: isClient ? ownEnd : otherEnd,
      server: isClient ? otherEnd : ownEnd,
      ...(service && {
        service: {
          name: peers.serviceAt(service.address, { protocol, port: service.port }),
          ...service,
        },
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

function changed(
  { measured: _, ...flow }: Flow,
  event: Exclude<ConnectionEvent, BegunConnection>,
): Flow {
  if (event.kind === 'opened') return { ...flow, verdict: 'open', reason: '' };
  if (event.kind === 'unanswered') return { ...flow, ...unanswered(flow) };
  const { side, time, outcome } = event;
  const ended = rfc3339(time);
  if (outcome === 'refused') return { ...flow, verdict: 'refused', ended, reason: REFUSED };
  const all = { ...flow, ended, ...countersOf(side, event) };
  return outcome === 'unanswered' ? { ...all, ...unanswered(flow) } : all;
}

/** A reason that was found stays. */
function unanswered({ verdict, reason }: Flow): Pick<Flow, 'verdict' | 'reason'> {
  if (verdict === 'denied' || verdict === 'no-answer') return { verdict, reason };
  return { verdict: 'no-answer', reason: '' };
}

type FlowCounters = Pick<
  Flow,
  'clientBytes' | 'serverBytes' | 'rttUs' | 'retransmissions' | 'datagrams'
>;

function countersOf(
  side: Flow['side'],
  { sent, received, rttUs, retransmissions, datagrams }: ConnectionCounters,
): FlowCounters {
  const isClient = side === 'client';
  const [clientBytes, serverBytes] = isClient ? [sent, received] : [received, sent];
  return {
    clientBytes,
    serverBytes,
    rttUs,
    retransmissions,
    ...(datagrams && {
      datagrams: {
        client: isClient ? datagrams.sent : datagrams.received,
        server: isClient ? datagrams.received : datagrams.sent,
        sockets: datagrams.sockets,
      },
    }),
  };
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
