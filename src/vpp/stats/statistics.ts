/** VPP's counters, read from its statistics segment. */
import type { Clock } from '#infra/clock/clock.ts';
import type {
  BufferPool,
  HeapUsage,
  InterfaceCounters,
  NatPacketCounter,
  NatSessionCounters,
  NodeErrorCounter,
  NodeRuntime,
  StatsPort,
  SystemCounters,
} from '#plugins/controller/api/ports/stats.ts';
import { type SegmentSnapshot, StatsSegment } from './segment.ts';

/** Name of the heap that VPP uses for everything but packets. */
export const MAIN_HEAP = 'main heap';

/** The process that serves the API; a changed PID means a restarted VPP with another segment. */
export interface VppProcess {
  pid(): Promise<number>;
}

/** The counters of the connected VPP. The segment is opened on first use. */
export class SegmentStatistics implements StatsPort {
  readonly #process: VppProcess;
  readonly #clock: Clock;
  #open: { readonly pid: number; readonly segment: StatsSegment } | undefined;

  constructor(process: VppProcess, clock: Clock) {
    this.#process = process;
    this.#clock = clock;
  }

  close(): void {
    this.#open?.segment.close();
    this.#open = undefined;
  }

  interfaces(): Promise<readonly InterfaceCounters[]> {
    return this.#read(interfaceCounters);
  }

  nodeErrors(): Promise<readonly NodeErrorCounter[]> {
    return this.#read((snapshot) =>
      [...snapshot.symlinks('/err/')]
        .filter(([, count]) => count > 0n)
        .map(([name, count]) => ({ ...splitErrorName(name), count })),
    );
  }

  nodes(): Promise<readonly NodeRuntime[]> {
    return this.#read((snapshot) => {
      const counts = (name: string) => snapshot.simple(`/sys/node/${name}`) ?? [];
      const [calls, vectors] = [counts('calls'), counts('vectors')];
      const [suspends, clocks] = [counts('suspends'), counts('clocks')];
      return (snapshot.names('/sys/node/names') ?? [])
        .map((name, index) => ({
          index,
          name,
          calls: calls[index] ?? 0n,
          vectors: vectors[index] ?? 0n,
          suspends: suspends[index] ?? 0n,
          clocks: clocks[index] ?? 0n,
        }))
        .filter(({ name, calls, suspends }) => name !== '' && (calls > 0n || suspends > 0n));
    });
  }

  system(): Promise<SystemCounters> {
    return this.#read((snapshot) => ({
      workers: snapshot.scalar('/sys/num_worker_threads') ?? 0,
      vectorRates: (snapshot.perThread('/sys/vector_rate_per_worker', 0) ?? []).map(Number),
      loopRates: (snapshot.perThread('/sys/loops_per_worker', 0) ?? []).map(Number),
      heaps: heaps(snapshot),
      bufferPools: bufferPools(snapshot),
    }));
  }

  natSessions(): Promise<NatSessionCounters> {
    return this.#read((snapshot) => ({
      sessions: (snapshot.perThread('/nat44-ed/total-sessions', 0) ?? []).map(Number),
      limit: snapshot.scalar('/nat44-ed/max-cfg-sessions') ?? 0,
    }));
  }

  natPackets(): Promise<readonly NatPacketCounter[]> {
    return this.#read((snapshot) =>
      natCounters.flatMap((counter) => {
        const { direction, path, kind } = counter;
        // one counter for each interface
        const counts = snapshot.simple(`/nat44-ed/${direction}/${path}path/${kind}`);
        return counts ? [{ ...counter, count: counts.reduce((a, b) => a + b, 0n) }] : [];
      }),
    );
  }

  async #read<T>(reader: (snapshot: SegmentSnapshot) => T): Promise<T> {
    const pid = await this.#process.pid();
    if (this.#open?.pid !== pid) {
      this.close();
      this.#open = { pid, segment: StatsSegment.open(pid, this.#clock) };
    }
    return this.#open.segment.read(reader);
  }
}

/** Name of a deleted interface; VPP keeps its index. */
const DELETED = 'deleted';

function interfaceCounters(snapshot: SegmentSnapshot): InterfaceCounters[] {
  const simple = (name: string) => snapshot.simple(`/if/${name}`) ?? [];
  const rx = snapshot.combined('/if/rx') ?? [];
  const tx = snapshot.combined('/if/tx') ?? [];
  const counters = {
    drops: simple('drops'),
    punts: simple('punt'),
    ip4: simple('ip4'),
    ip6: simple('ip6'),
    rxNoBuffer: simple('rx-no-buf'),
    rxMiss: simple('rx-miss'),
    rxErrors: simple('rx-error'),
    txErrors: simple('tx-error'),
  };
  return (snapshot.names('/if/names') ?? []).flatMap((internalName, index) => {
    if (internalName === '' || internalName === DELETED) return [];
    return [
      {
        swIfIndex: index,
        internalName,
        rxPackets: rx[index]?.packets ?? 0n,
        rxBytes: rx[index]?.bytes ?? 0n,
        txPackets: tx[index]?.packets ?? 0n,
        txBytes: tx[index]?.bytes ?? 0n,
        drops: counters.drops[index] ?? 0n,
        punts: counters.punts[index] ?? 0n,
        ip4: counters.ip4[index] ?? 0n,
        ip6: counters.ip6[index] ?? 0n,
        rxNoBuffer: counters.rxNoBuffer[index] ?? 0n,
        rxMiss: counters.rxMiss[index] ?? 0n,
        rxErrors: counters.rxErrors[index] ?? 0n,
        txErrors: counters.txErrors[index] ?? 0n,
      },
    ];
  });
}

/** Positions in the vector of a heap, of vlib/stats/provider_mem.c. */
const heapItem = { total: 0, used: 1, free: 2, trimmable: 6 } as const;

function heaps(snapshot: SegmentSnapshot): HeapUsage[] {
  // the names with a slash are symlinks into the same vector
  const names = snapshot.list('/mem/').filter((name) => !name.includes('/'));
  return names.map((name) => {
    const items = snapshot.simple(`/mem/${name}`) ?? [];
    const bytes = (item: keyof typeof heapItem) => Number(items[heapItem[item]] ?? 0n);
    return {
      name,
      total: bytes('total'),
      used: bytes('used'),
      free: bytes('free'),
      trimmable: bytes('trimmable'),
    };
  });
}

function bufferPools(snapshot: SegmentSnapshot): BufferPool[] {
  const prefix = '/buffer-pools/';
  const names = new Set(snapshot.list(prefix).map((name) => name.slice(0, name.lastIndexOf('/'))));
  return [...names].map((name) => {
    const buffers = (state: string) => snapshot.scalar(`${prefix}${name}/${state}`) ?? 0;
    return {
      name,
      used: buffers('used'),
      cached: buffers('cached'),
      available: buffers('available'),
    };
  });
}

const natCounters = (['in2out', 'out2in'] as const).flatMap((direction) =>
  (['fast', 'slow'] as const).flatMap((path) =>
    (['tcp', 'udp', 'icmp', 'other', 'drops'] as const).map((kind) => ({ direction, path, kind })),
  ),
);

/** Names of interfaces with slashes, which are also names of graph nodes. */
const NODE_WITH_SLASH =
  /^(?:memif\d+\/\d+|pg\/stream|[A-Za-z]+[0-9a-f]+(?:\/[0-9a-f]+){2})(?=[/.-])/;

/** `<node>/<reason>`; each of both may contain slashes. */
export function splitErrorName(name: string): { node: string; reason: string } {
  const start = NODE_WITH_SLASH.exec(name)?.[0].length ?? 0;
  const slash = name.indexOf('/', start);
  if (slash < 0) return { node: name, reason: '' };
  return { node: name.slice(0, slash), reason: name.slice(slash + 1) };
}
