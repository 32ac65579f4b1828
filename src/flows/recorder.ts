import type { Flow } from '#documents/flows.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import type { ConnectionEvent } from '#linux/socket-flows/api.ts';
import type { FlowReason } from './flow-reason.ts';
import type { FlowRing } from './flow-ring.ts';
import type { Peers } from './peers.ts';

export interface RecorderDeps {
  /** Name of this node. */
  readonly label: string;
  readonly peers: Peers;
  readonly ring: FlowRing;
  readonly isSimulated: boolean;
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
    const { ring, onChange } = this.#deps;
    const before = ring.get(event.id)?.flow;
    const base = before ?? this.#begun(event);
    const flow = changed(base, event);
    ring.put({ flow, changedAt: event.time });
    onChange(flow, before);
  }

  /** The reason why a connection was not answered, found later. */
  explain(id: string, { verdict, reason }: FlowReason): void {
    const { ring, onChange } = this.#deps;
    const record = ring.get(id);
    if (record?.flow.verdict !== 'no-answer') return;
    const flow = { ...record.flow, verdict, reason };
    ring.put({ ...record, flow });
    onChange(flow, record.flow);
    ring.notify();
  }

  #begun({ id, side, begun, isOfHost, local, remote, service }: ConnectionEvent): Flow {
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
      ...(isSimulated && { isSimulated }),
    };
  }
}

function changed(flow: Flow, event: ConnectionEvent): Flow {
  if (event.kind === 'opened') return { ...flow, verdict: 'open', reason: '' };
  // what was found out stays
  const unanswered = flow.verdict === 'denied' ? {} : ({ verdict: 'no-answer' } as const);
  if (event.kind === 'unanswered') return { ...flow, ...unanswered };
  const { side, time, outcome, sent, received, rttUs, retransmissions } = event;
  const ended = rfc3339(time);
  if (outcome === 'refused') return { ...flow, verdict: 'refused', ended, reason: REFUSED };
  if (outcome === 'unanswered') return { ...flow, ...unanswered, ended };
  const [clientBytes, serverBytes] = side === 'client' ? [sent, received] : [received, sent];
  return { ...flow, ended, clientBytes, serverBytes, rttUs, retransmissions };
}

const REFUSED =
  'the other end has refused it: no process listens there, or a service has no endpoints';
