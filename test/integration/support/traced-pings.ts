/** Verdicts of packet traces about pings, through the reports of the agents. */
import assert from 'node:assert/strict';
import { deviceByAddress } from '#packet-trace/cluster.ts';
import { traceMemory } from '#packet-trace/memory.ts';
import type { NodeSnapshot } from '#packet-trace/node-document.ts';
import { type Packet, replyTo } from '#packet-trace/packet.ts';
import type { Snapshot } from '#packet-trace/snapshot.ts';
import { tracePacket } from '#packet-trace/tracer.ts';
import { snapshotOfDocuments } from '#test/packet-trace/document-snapshot.ts';
import type { RealCluster } from './cluster.ts';

export async function snapshotOf(cluster: RealCluster): Promise<Snapshot> {
  const documents = await Promise.all(
    cluster.nodes.map(async ({ node }) => {
      const { status, body } = await node.agent.get('/trace/node');
      assert.equal(status, 200);
      return body as NodeSnapshot;
    }),
  );
  return snapshotOfDocuments(documents, []);
}

/** Whether a ping between pods and hosts of the nodes gets its reply. */
export function hasReply(seen: Snapshot, source: string, destination: string): boolean {
  const memory = traceMemory();
  const packet: Packet = {
    source,
    destination,
    protocol: 'ICMP',
    sourcePort: 0,
    destinationPort: 0,
  };
  const there = tracePacket(seen, deviceByAddress(seen, source)!, packet, { memory });
  if (there.verdict !== 'delivered') return false;
  const end = deviceByAddress(seen, destination)!;
  return tracePacket(seen, end, replyTo(packet), { memory }).verdict === 'delivered';
}
