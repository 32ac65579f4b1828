import { clusterSnapshot } from '#packet-trace/cluster.ts';
import { type NodeSnapshot, nodeValues } from '#packet-trace/node-document.ts';
import type { Device, Snapshot } from '#packet-trace/snapshot.ts';

/** Snapshot of the trace documents of agents, with additional devices. */
export function snapshotOfDocuments(
  documents: readonly NodeSnapshot[],
  others: readonly Device[] = [],
): Snapshot {
  return clusterSnapshot({ nodes: documents.map(nodeValues), others });
}
