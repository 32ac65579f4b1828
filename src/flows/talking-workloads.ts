import type { Flow, FlowEnd, TalkingPair } from '#documents/flows.ts';
import type { Slices } from '#infra/clock/slices.ts';

type Counters = { -readonly [Name in keyof TalkingPair]: TalkingPair[Name] };

/** Sums up flows by the workloads of both ends and the port: who talks to whom. */
export async function talkingPairs(
  flows: readonly Flow[],
  slices: Pick<Slices, 'each'>,
): Promise<TalkingPair[]> {
  // a connection between two sockets of this node has two records
  const seen = new Set<string>();
  await slices.each(flows, (flow) => {
    if (flow.side === 'client') seen.add(endsOf(flow));
  });
  const pairs = new Map<string, Counters>();
  await slices.each(flows, (flow) => {
    if (flow.side === 'server' && seen.has(endsOf(flow))) return;
    const { client, server, verdict } = flow;
    const key = `${nameOf(client)} ${nameOf(server)} ${flow.protocol} ${server.port ?? ''}`;
    const pair = pairs.get(key) ?? pairOf(flow);
    pairs.set(key, pair);
    const connections = Math.max(1, flow.datagrams?.sockets ?? 1);
    pair.connections += connections;
    if (verdict !== 'open') pair[counterOf[verdict]] += connections;
    pair.clientBytes += flow.clientBytes;
    pair.serverBytes += flow.serverBytes;
    const changed = flow.ended ?? flow.time;
    if (changed > pair.lastChange) pair.lastChange = changed;
  });
  return [...pairs.values()].sort((a, b) => b.connections - a.connections);
}

function pairOf({ client, server, protocol }: Flow): Counters {
  return {
    client: nameOf(client),
    clientKind: client.kind,
    server: nameOf(server),
    serverKind: server.kind,
    protocol,
    ...(server.port !== undefined && { port: server.port }),
    connections: 0,
    refused: 0,
    noAnswer: 0,
    denied: 0,
    clientBytes: 0,
    serverBytes: 0,
    lastChange: '',
  };
}

const counterOf = { refused: 'refused', 'no-answer': 'noAnswer', denied: 'denied' } as const;

function nameOf({ workload, address }: FlowEnd): string {
  return workload === '' ? address : workload;
}

/** Of UDP, both ends have a record for all ports of the client. */
function endsOf({ client, server, protocol }: Flow): string {
  const clientPort = protocol === 'TCP' ? (client.port ?? '') : protocol;
  return `${client.address} ${clientPort} ${server.address} ${server.port ?? ''}`;
}
