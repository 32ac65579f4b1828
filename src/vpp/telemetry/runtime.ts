import type { NodeRuntime } from '#plugins/controller/api/ports/stats.ts';

/** 0 for a node that was never called with packets. */
export function vectorsPerCall({ vectors, calls }: NodeRuntime): number {
  return calls === 0n ? 0 : Number(vectors) / Number(calls);
}
