import type { Clock } from '#infra/clock/clock.ts';
import type {
  InterfaceCounters,
  NatSessionCounters,
  NodeErrorCounter,
  StatsPort,
  SystemCounters,
} from '#plugins/controller/api/ports/stats.ts';
import { type SegmentSnapshot, StatsSegment } from './segment.ts';

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
    return this.#read((snapshot) => {
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
        // A deleted interface keeps its index, with an empty name.
        if (internalName === '') return [];
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
    });
  }

  nodeErrors(): Promise<readonly NodeErrorCounter[]> {
    return this.#read((snapshot) =>
      [...snapshot.symlinks('/err/')]
        .filter(([, count]) => count > 0n)
        .map(([name, count]) => ({ name, count })),
    );
  }

  system(): Promise<SystemCounters> {
    return this.#read((snapshot) => {
      const memory = snapshot.symlinks('/mem/main heap/');
      const workers = snapshot.scalar('/sys/num_worker_threads') ?? 0;
      const rates = snapshot.perThread('/sys/vector_rate_per_worker', 0) ?? [];
      return {
        heapTotal: Number(memory.get('total') ?? 0n),
        heapUsed: Number(memory.get('used') ?? 0n),
        workers,
        vectorRates: rates.map(Number),
      };
    });
  }

  natSessions(): Promise<NatSessionCounters> {
    return this.#read((snapshot) => ({
      sessions: (snapshot.perThread('/nat44-ed/total-sessions', 0) ?? []).map(Number),
      limit: snapshot.scalar('/nat44-ed/max-cfg-sessions') ?? 0,
    }));
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
