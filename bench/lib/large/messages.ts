/** Messages between the measurement and the process of the agent. */

/** First argument of the process, as JSON. */
export interface LargeAgentArgs {
  /** Of etcd, or of proxies before it. */
  readonly etcdPorts: readonly number[];
  /** For its stores and sockets. */
  readonly folder: string;
}

export interface LargeAgentReady {
  /** Of the REST server. */
  readonly port: number;
  readonly attachedPods: number;
  /** From the start of the process. */
  readonly readyMs: number;
}

/** Requests: what has happened since the last report; that, after a collection of garbage; a `StormReport`. */
export type LargeAgentRequest = 'report' | 'collect' | 'storm';

export interface LargeAgentReport {
  /** Keys in etcd of processed events, and when their transactions had ended: milliseconds since the epoch. */
  readonly processed: readonly (readonly [key: string, end: number])[];
  /** Events with a transaction. */
  readonly transactions: number;
  /** Processor time of the main thread in the longest time without a turn of the event loop. */
  readonly longestMs: number;
  /** Processor time of the main thread since its start. */
  readonly mainMs: number;
  /** Time in which it collected garbage, and the numbers of collections of young objects and of the whole heap. */
  readonly gcMs: number;
  readonly minorCollections: number;
  readonly majorCollections: number;
  readonly heapBytes: number;
  /** Of the event history, which has a limit. */
  readonly historyBytes: number;
  /** Reads of the whole database. */
  readonly resyncs: number;
}

export interface StormReport {
  /** Changes of pods of the own node since the last report: their labels `version`, and when their events had ended. */
  readonly own: readonly (readonly [version: string, end: number])[];
  /** Events that waited at most. */
  readonly longestQueue: number;
  /** The label of the marker. */
  readonly turn: string | undefined;
  /** No event is processed or waits. */
  readonly isIdle: boolean;
}
