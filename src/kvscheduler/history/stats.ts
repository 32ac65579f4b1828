/** Statistics since the start, as REST shows them. */

import type { MethodStats, SchedulerStats } from '#documents/scheduler/stats.ts';
import type { Operation, ValueState } from '../api/value-state.ts';
import type { DescriptorMethod, GraphMethod, Observer, Phase } from './observer.ts';
import type { RecordedTxnOp, TxnType } from './record.ts';

interface Summary {
  count: number;
  total: number;
  min: number;
  max: number;
}

class Times {
  readonly #byName = new Map<string, Summary>();

  static sumOf(parts: Iterable<Times>): Times {
    const sum = new Times();
    for (const part of parts) for (const [name, summary] of part.#byName) sum.#merge(name, summary);
    return sum;
  }

  add(name: string, ms: number): void {
    const known = this.#byName.get(name);
    if (!known) {
      this.#byName.set(name, { count: 1, total: ms, min: ms, max: ms });
      return;
    }
    known.count++;
    known.total += ms;
    if (ms < known.min) known.min = ms;
    if (ms > known.max) known.max = ms;
  }

  #merge(name: string, { count, total, min, max }: Summary): void {
    const known = this.#byName.get(name);
    if (!known) {
      this.#byName.set(name, { count, total, min, max });
      return;
    }
    known.count += count;
    known.total += total;
    known.min = Math.min(known.min, min);
    known.max = Math.max(known.max, max);
  }

  /** The most frequent first. */
  list(): MethodStats[] {
    const seconds = (ms: number): number => Math.round(ms) / 1000;
    return [...this.#byName]
      .map(([name, { count, total, min, max }]) => ({
        name,
        count,
        total: seconds(total),
        avg: seconds(total / count),
        min: seconds(min),
        max: seconds(max),
      }))
      .sort((a, b) => b.count - a.count);
  }
}

export class Stats implements Observer {
  #processed = 0;
  #errors = 0;
  readonly #operations: Record<Operation, number> = { CREATE: 0, UPDATE: 0, DELETE: 0 };
  readonly #states: Partial<Record<ValueState, number>> = {};
  readonly #phases = new Times();
  readonly #graph = new Times();
  readonly #descriptors = new Map<string, Times>();

  get document(): SchedulerStats {
    return {
      TxnStats: {
        TotalProcessed: this.#processed,
        OperationCount: this.#operations,
        ValueStateCount: this.#states,
        ErrorCount: this.#errors,
        Methods: this.#phases.list(),
      },
      GraphMethods: this.#graph.list(),
      AllDescriptors: Times.sumOf(this.#descriptors.values()).list(),
      Descriptors: Object.fromEntries(
        [...this.#descriptors].map(([name, times]) => [name, times.list()]),
      ),
    };
  }

  dropped(): void {}

  waited(): void {}

  committed(): void {}

  took(phase: Phase, ms: number): void {
    this.#phases.add(phase, ms);
  }

  worked(method: GraphMethod, ms: number): void {
    this.#graph.add(method, ms);
  }

  processed(_type: TxnType, _ms: number, executed: readonly RecordedTxnOp[]): void {
    this.#processed++;
    for (const { Operation, NewState, NewErrMsg } of executed) {
      this.#operations[Operation]++;
      if (NewState) this.#states[NewState] = (this.#states[NewState] ?? 0) + 1;
      if (NewErrMsg !== undefined) this.#errors++;
    }
  }

  called(descriptor: string, method: DescriptorMethod, ms: number): void {
    let times = this.#descriptors.get(descriptor);
    if (!times) {
      times = new Times();
      this.#descriptors.set(descriptor, times);
    }
    times.add(method, ms);
  }
}
