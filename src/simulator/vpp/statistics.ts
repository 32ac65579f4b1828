/**
 * The statistics of a simulated VPP, in place of a statistics segment: those of a VPP with one thread. It forwards no
 * packets: their counters are 0 unless traffic is simulated. Interfaces and the session table of NAT44 are those of
 * the process.
 */
import type { StatsPort } from '#plugins/controller/api/ports/stats.ts';
import type { Interfaces } from './interfaces.ts';
import type { TrafficCounters } from './traffic-counters.ts';

/** Defaults of VPP. */
const HEAP_BYTES = 1 << 30;
const BUFFERS = 16_384;

/** A graph node that runs on a VPP without traffic: it updates the statistics. */
const COLLECTOR = { index: 1, name: 'statseg-collector-process', calls: 0n, vectors: 0n };

interface Process {
  readonly interfaces: Interfaces;
  readonly traffic: TrafficCounters;
  readonly nat: { readonly sessionCount: number; readonly sessionLimit: number };
}

export function simulatedStatistics({ interfaces, traffic, nat }: Process): StatsPort {
  return {
    interfaces: async () =>
      interfaces.all().map(({ index, name }) => ({
        swIfIndex: index,
        internalName: name,
        ...traffic.of(index),
        punts: 0n,
        ip6: 0n,
        rxNoBuffer: 0n,
        rxMiss: 0n,
        rxErrors: 0n,
        txErrors: 0n,
      })),
    nodeErrors: async () => traffic.errors(),
    nodes: async () => [{ ...COLLECTOR, suspends: 1n, clocks: 1n }],
    system: async () => ({
      workers: 0,
      vectorRates: [0],
      loopRates: [0],
      heaps: [
        { name: 'main heap', total: HEAP_BYTES, used: 0, free: HEAP_BYTES, trimmable: HEAP_BYTES },
      ],
      bufferPools: [{ name: 'default-numa-0', used: 0, cached: 0, available: BUFFERS }],
    }),
    natSessions: async () => ({ sessions: [nat.sessionCount], limit: nat.sessionLimit }),
    natPackets: async () =>
      (['in2out', 'out2in'] as const).flatMap((direction) =>
        (['fast', 'slow'] as const).flatMap((path) =>
          (['tcp', 'udp', 'icmp', 'other', 'drops'] as const).map((kind) => {
            return { direction, path, kind, count: 0n };
          }),
        ),
      ),
  };
}
