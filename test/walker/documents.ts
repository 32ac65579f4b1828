import type { NodeDocument } from '#programs/agent/node-document.ts';
import { nodeValues } from '#programs/agent/trace.ts';
import { clusterSnapshot } from '#walker/cluster.ts';
import type { Device, Snapshot } from '#walker/snapshot.ts';

/** What agents say of their nodes, with machines that are none. */
export function clusterOf(
  documents: readonly NodeDocument[],
  others: readonly Device[] = [],
): Snapshot {
  return clusterSnapshot({ nodes: documents.map(nodeValues), others });
}
