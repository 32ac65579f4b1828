import type { Flow } from '#documents/flows.ts';

/** A place that keeps records of flows. */
export interface FlowSink {
  /** The key of flows.conf that names it: in errors and metrics. */
  readonly name: string;
  /** Rejects if these records are not kept; they come again. */
  write(flows: readonly Flow[]): Promise<void>;
  close(): void;
}
