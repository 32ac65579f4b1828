/** What the scheduler tells of its work as it goes, for statistics and metrics. */
import type { RecordedTxnOp, TxnType } from './record.ts';

/** Parts of the processing of a transaction, by the names of the Go agent. */
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

/** What a descriptor was asked to do. */
export type DescriptorMethod = 'Create' | 'Update' | 'Delete' | 'Retrieve';

/** Times are in milliseconds. */
export interface Observer {
  /** A transaction was refused, because the queue was full. */
  dropped(): void;
  /** A transaction's turn has come. */
  waited(type: TxnType, ms: number): void;
  took(phase: Phase, ms: number): void;
  worked(method: GraphMethod, ms: number): void;
  processed(type: TxnType, ms: number, executed: readonly RecordedTxnOp[]): void;
  /** A commit was answered. @param ms since it was asked for */
  committed(ms: number): void;
  /** A descriptor has answered, well or not. */
  called(descriptor: string, method: DescriptorMethod, ms: number): void;
}

/** Tells all of them, in this order. */
export function combineObservers(observers: readonly Observer[]): Observer {
  const each = (tell: (observer: Observer) => void): void => {
    for (const observer of observers) tell(observer);
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
