import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Flow } from '#documents/flows.ts';
import type { DenialSampler } from './denials/denial-sampler.ts';
import type { FlowExporter } from './export/flow-exporter.ts';
import type { FlowRing } from './flow-ring.ts';

/** A node has some hundred pods; names of workloads come and go with them. */
const MAX_WORKLOADS = 200;
const OTHERS = 'others';

const rttBuckets = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1];

export interface FlowMetricsDeps {
  readonly ring: Pick<FlowRing, 'size'>;
  readonly lost: () => number;
  readonly displaced: () => number;
  /** undefined: not counted. */
  readonly sampler: Pick<DenialSampler, 'denied' | 'sampled'> | undefined;
  readonly exporters: readonly Pick<FlowExporter, 'name' | 'missed'>[];
}

/** By the workload of this node's end. */
export class FlowMetrics {
  readonly #connections: Counter<'workload' | 'side' | 'protocol' | 'verdict'>;
  readonly #bytes: Counter<'workload' | 'protocol' | 'direction'>;
  readonly #retransmissions: Counter<'workload'>;
  readonly #rtt: Histogram<'workload'>;
  readonly #workloads = new Set<string>();

  constructor(registry: Registry, { ring, lost, displaced, sampler, exporters }: FlowMetricsDeps) {
    const registers = [registry];
    this.#connections = new Counter({
      name: 'contiv_flow_connections_total',
      help: 'Connections by the workload of their end on this node (the node itself: its name; beyond 200 workloads: others), by this end (client, server), protocol (TCP; UDP: conversations, not sockets) and verdict: open, refused, no-answer, denied. One that is found to be denied after it got no answer, or is answered late, counts for both.',
      labelNames: ['workload', 'side', 'protocol', 'verdict'],
      registers,
    });
    this.#bytes = new Counter({
      name: 'contiv_flow_bytes_total',
      help: 'Bytes of connections, counted once a minute and at their end, without headers and repetitions (of memifs: with both), by the workload of their end on this node, protocol and direction: sent, received.',
      labelNames: ['workload', 'protocol', 'direction'],
      registers,
    });
    this.#retransmissions = new Counter({
      name: 'contiv_flow_retransmissions_total',
      help: 'Segments that a workload of this node has sent again, counted once a minute and at the end of a connection.',
      labelNames: ['workload'],
      registers,
    });
    this.#rtt = new Histogram({
      name: 'contiv_flow_rtt_seconds',
      help: 'Smoothed round-trip time of connections at their end, by the workload of their end on this node.',
      labelNames: ['workload'],
      buckets: rttBuckets,
      registers,
    });
    new Gauge({
      name: 'contiv_flow_records',
      help: 'Records of connections in memory.',
      registers,
      collect() {
        this.set(ring.size);
      },
    });
    new Counter({
      name: 'contiv_flow_events_lost_total',
      help: 'Events of connections that the kernel had no space for, since its programs were loaded, or that this agent could not record, messages of VPP about memifs that did not arrive, and conversations of memifs that were displaced by newer ones.',
      registers,
      collect() {
        this.reset();
        this.inc(lost());
      },
    });
    new Counter({
      name: 'contiv_flow_conversations_displaced_total',
      help: 'Conversations of UDP that have left the memory of the kernel for newer ones, since its programs were loaded; it is asked once a minute.',
      registers,
      collect() {
        this.reset();
        this.inc(displaced());
      },
    });
    if (sampler) registerDenials(registers, sampler);
    new Counter({
      name: 'contiv_flows_not_exported_total',
      help: 'Records that have left the memory before the sink has taken their last change, by the key of flows.conf that names it.',
      labelNames: ['sink'],
      registers,
      collect() {
        this.reset();
        for (const { name, missed } of exporters) this.inc({ sink: name }, missed);
      },
    });
  }

  /** @param before what the record was; undefined: it is new */
  observe(flow: Flow, before: Flow | undefined): void {
    const { side, protocol, verdict } = flow;
    const workload = this.#labelOf(side === 'client' ? flow.client.workload : flow.server.workload);
    // an earlier agent has counted it
    if (before === undefined && flow.measured !== undefined) return;
    if (before?.verdict !== verdict) this.#connections.inc({ workload, side, protocol, verdict });
    if (before?.ended !== undefined || verdict !== 'open') return;
    const { clientBytes = 0, serverBytes = 0, retransmissions = 0 } = before ?? {};
    const fromClient = Math.max(0, flow.clientBytes - clientBytes);
    const fromServer = Math.max(0, flow.serverBytes - serverBytes);
    const [sent, received] =
      side === 'client' ? [fromClient, fromServer] : [fromServer, fromClient];
    if (sent > 0) this.#bytes.inc({ workload, protocol, direction: 'sent' }, sent);
    if (received > 0) this.#bytes.inc({ workload, protocol, direction: 'received' }, received);
    const again = flow.retransmissions - retransmissions;
    if (again > 0) this.#retransmissions.inc({ workload }, again);
    if (flow.ended !== undefined && flow.rttUs > 0)
      this.#rtt.observe({ workload }, flow.rttUs / 1_000_000);
  }

  #labelOf(workload: string): string {
    if (this.#workloads.has(workload)) return workload;
    if (this.#workloads.size >= MAX_WORKLOADS) return OTHERS;
    this.#workloads.add(workload);
    return workload;
  }
}

function registerDenials(
  registers: Registry[],
  sampler: Pick<DenialSampler, 'denied' | 'sampled'>,
): void {
  new Counter({
    name: 'contiv_flow_denied_packets_total',
    help: 'Packets that ACLs of VPP have denied since the agent started, of whomever, by whether the agent has looked at them (true, false). One that was looked at has a record, unless a socket of this node has one for it, or it has no port.',
    labelNames: ['sampled'],
    registers,
    collect() {
      this.reset();
      this.inc({ sampled: 'true' }, sampler.sampled);
      this.inc({ sampled: 'false' }, Math.max(0, sampler.denied - sampler.sampled));
    },
  });
}
