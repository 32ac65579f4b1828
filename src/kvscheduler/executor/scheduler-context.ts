import type { Slices } from '#infra/clock/slices.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Registry } from '../graph/descriptor-registry.ts';
import type { Graph } from '../graph/graph.ts';
import type { DescriptorCalls } from './descriptor-calls.ts';
import type { GraphWriter } from './graph-writer.ts';

/** Shared by all transactions of a scheduler. */
export interface SchedulerContext {
  readonly graph: Graph;
  /** Writes `graph`. */
  readonly writer: GraphWriter;
  readonly registry: Registry;
  /** The number of operations in flight at once. */
  readonly window: number;
  readonly log: Logger;
  readonly slices: Slices;
  readonly calls: DescriptorCalls;
}
