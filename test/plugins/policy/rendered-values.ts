import { ManualClock } from '#infra/clock/manual.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { EventTransaction } from '#plugins/controller/event-transaction.ts';
import { ValueGroups } from '#plugins/controller/value-groups.ts';
import type { RendererContext } from '#plugins/policy/rendered-state.ts';

/** The groups of values that a renderer replaces, in transactions as those of the event loop. */
export class RenderedValues {
  readonly #groups = new ValueGroups([]);
  #txn = new EventTransaction(this.#groups, false);

  /** Begins a transaction. */
  begin(): RendererContext {
    const txn = new EventTransaction(this.#groups, false);
    this.#txn = txn;
    return {
      txn: { replace: (...group) => txn.replace('policy', ...group) },
      clock: new ManualClock(),
    };
  }

  /** Values that the last transaction has changed, in its order; null: the value was deleted. */
  get changes(): ReadonlyMap<string, Value | null> {
    return this.#txn.changes;
  }

  get values(): ReadonlyMap<string, Value> {
    return new Map(Array.from(this.#groups.all(), ({ key, value }) => [key, value]));
  }

  /** @param name within the handler */
  group(name: string): ReadonlyMap<string, Value> {
    return this.#groups.group(`policy/${name}`);
  }

  sorted(): [string, Value][] {
    return [...this.values].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}
