/** Messages between the main thread and the worker thread that traces one pair. */
import type { NodeSnapshot } from '#packet-trace/node-document.ts';
import type { PairTrace, TracedPorts } from '#packet-trace/pair-trace.ts';

/** The snapshot comes before it, as pieces of JSON. */
export interface TraceRequest {
  readonly source: string;
  readonly destination: string;
  readonly ports: TracedPorts;
}

export type ToTraceWorker = string | TraceRequest;

/** undefined: this node does not have the address of the source. */
export type FromTraceWorker = PairTrace | undefined;

export interface TraceInput extends TraceRequest {
  readonly node: NodeSnapshot;
}
