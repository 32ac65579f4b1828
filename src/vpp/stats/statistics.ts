import type { Clock } from '#infra/clock/clock.ts';
import type {
  InterfaceCounters,
  NodeErrorCounter,
  StatsPort,
  SystemCounters,
} from '#plugins/controller/api/ports/stats.ts';
import { type SegmentSnapshot, StatsSegment } from './segment.ts';

/** Which process serves the API now; a number that changed is another VPP with another segment. */
export interface VppProcess {
  pid(): Promise<number>;
}

/** The counters of the VPP that is there now. The segment is opened when first asked for. */
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
    return this.#read((look) => {
      const simple = (name: string) => look.simple(`/if/${name}`) ?? [];
      const rx = look.combined('/if/rx') ?? [];
      const tx = look.combined('/if/tx') ?? [];
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
      return (look.names('/if/names') ?? []).flatMap((internalName, index) => {
        // The slot of a deleted interface keeps its place without a name.
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
    return this.#read((look) =>
      [...look.symlinks('/err/')]
        .filter(([, count]) => count > 0n)
        .map(([name, count]) => ({ name, count })),
    );
  }

  system(): Promise<SystemCounters> {
    return this.#read((look) => {
      const memory = look.symlinks('/mem/main heap/');
      const workers = look.scalar('/sys/num_worker_threads') ?? 0;
      const rates = look.perThread('/sys/vector_rate_per_worker', 0) ?? [];
      return {
        heapTotal: Number(memory.get('total') ?? 0n),
        heapUsed: Number(memory.get('used') ?? 0n),
        workers,
        vectorRates: rates.map(Number),
      };
    });
  }

  async #read<T>(reader: (look: SegmentSnapshot) => T): Promise<T> {
    const pid = await this.#process.pid();
    if (this.#open?.pid !== pid) {
      this.close();
      this.#open = { pid, segment: StatsSegment.open(pid, this.#clock) };
    }
    return this.#open.segment.read(reader);
  }
}
