/** Cost of packets in each graph node of VPP. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { VppProcess } from '#test/integration/support/vpp-process.ts';
import { captureFile } from './frames.ts';
import type { Packets } from './paths.ts';

export interface Sending {
  /** Another VPP that sends the packets to this one. */
  readonly sender?: VppProcess;
  /** Packets a second of each thread; default: as many as it can. */
  readonly rate?: string;
}

/** Clocks of the processor for each packet, by graph node. */
export type GraphCost = ReadonlyMap<string, number>;

const MEASURED_MS = 700;
/** More than VPP sends in that time. */
const ENDLESS = 1e9;
const GENERATOR = 'pg-input';
/** The node by which packets of another VPP arrive. */
const RECEIVER = 'af-packet-input';
/** Nodes that are no work of the path: the packet generator, and devices, whose other end is a process. */
const DEVICE = /^(pg-input|.*-tx|tap-input|af-packet-input|virtio-input|unix-epoll-input)$/;
/** A line of `show runtime`: name, state, calls, vectors, suspends, clocks, vectors a call. */
const LINE = /^(\S+)\s+[a-z ]+?\s+(\d+)\s+(\d+)\s+\d+\s+(\S+)\s+\S+$/;

/**
 * Sends the packets again and again.
 * @param workers of VPP, each of which sends the same packets; 0: the main thread sends
 */
export async function graphCost(
  vpp: VppProcess,
  packets: Packets,
  workers = 0,
  { sender = vpp, rate = '' }: Sending = {},
): Promise<GraphCost> {
  const file = join(sender.folder, 'packets.pcap');
  writeFileSync(file, captureFile(packets.frames));
  const place = `interface ${packets.interface} node ethernet-input`;
  const streams = Array.from({ length: Math.max(workers, 1) }, (_, worker) => `bench${worker}`);
  for (const [worker, name] of streams.entries())
    await sender.cli(
      `packet-generator new { name ${name} worker ${worker} limit ${ENDLESS} ${rate && `rate ${rate}`} ${place} pcap ${file} }`,
    );
  const each = async (command: string) => {
    for (const name of streams) await sender.cli(`packet-generator ${command} ${name}`);
  };
  try {
    await each('enable-stream');
    await sleep(MEASURED_MS / 4);
    await vpp.cli('clear runtime');
    await sleep(MEASURED_MS);
    const runtime = await vpp.cli('show runtime');
    return costOf(runtime, sender === vpp ? GENERATOR : RECEIVER);
  } finally {
    await each('disable-stream');
    await each('delete');
  }
}

export function total(cost: GraphCost): number {
  return [...cost.values()].reduce((sum, clocks) => sum + clocks, 0);
}

/** Nodes that at least half of the packets visit, on all threads together. */
function costOf(runtime: string, first: string): GraphCost {
  const nodes = new Map<string, { readonly vectors: number; readonly clocks: number }>();
  for (const line of runtime.split('\n')) {
    const [, name = '', , vectors, clocks] = LINE.exec(line.trim()) ?? [];
    if (vectors === undefined) continue;
    const known = nodes.get(name) ?? { vectors: 0, clocks: 0 };
    nodes.set(name, {
      vectors: known.vectors + Number(vectors),
      clocks: known.clocks + Number(vectors) * Number(clocks),
    });
  }
  const sent = nodes.get(first)?.vectors ?? 0;
  if (sent === 0) throw new Error(`VPP had no packet: ${runtime}`);
  const visited = [...nodes].filter(
    ([name, { vectors }]) => !DEVICE.test(name) && vectors * 2 >= sent,
  );
  return new Map(visited.map(([name, { clocks }]) => [name, clocks / sent]));
}
