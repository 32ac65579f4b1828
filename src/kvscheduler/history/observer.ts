/** Notifications about the scheduler's work, for statistics and metrics. */
import type { RecordedTxnOp, TxnType } from './record.ts';

/** Phases of the processing of a transaction, with the names of the Go agent. */
export type Phase =
  | 'preProcessTransaction'
  | 'simulateTransaction'
  | 'preRecordTransaction'
  | 'executeTransaction'
  | 'postProcessTransaction'
  | 'recordTransaction'
  | 'processTransaction';

/** Work on the graph as a whole. */
export type GraphMethod = 'Plan' | 'Record';

/** Descriptor functions that are counted. */
export type DescriptorMethod = 'Create' | 'Update' | 'Delete' | 'Retrieve';

/** Times are in milliseconds. */
export interface Observer {
  /** A transaction was refused, because the queue was full. */
  dropped(): void;
  /** A transaction starts after a wait in the queue. */
  waited(type: TxnType, ms: number): void;
  took(phase: Phase, ms: number): void;
  worked(method: GraphMethod, ms: number): void;
  processed(type: TxnType, ms: number, executed: readonly RecordedTxnOp[]): void;
  /** A commit was answered. @param ms since the request */
  committed(ms: number): void;
  /** A descriptor call ended, with or without success. */
  called(descriptor: string, method: DescriptorMethod, ms: number): void;
}

/** Forwards notifications to all observers, in this order. */
export function combineObservers(observers: readonly Observer[]): Observer {
  const each = (notify: (observer: Observer) => void): void => {
    for (const observer of observers) notify(observer);
  };
  return {
    dropped: () => each((one) => one.dropped()),
    waited: (type, ms) => each((one) => one.waited(type, ms)),
    took: (phase, ms) => each((one) => one.took(phase, ms)),
    worked: (method, ms) => each((one) => one.worked(method, ms)),
    processed: (type, ms, executed) => each((one) => one.processed(type, ms, executed)),
    committed: (ms) => each((one) => one.committed(ms)),
    called: (descriptor, method, ms) => each((one) => one.called(descriptor, method, ms)),
  };
}
