import type { Value } from '#kvscheduler/api/transaction.ts';
import type { DesiredValues, ExternalValues } from './api/desired-values.ts';
import { EventMethod } from './api/event.ts';
import { EventTransaction } from './event-transaction.ts';
import type { ProcessingState } from './processing-state.ts';
import { ValueGroups } from './value-groups.ts';

/** The groups of values that the handlers desire: those of the last resync, with the updates since. */
export class DesiredState implements DesiredValues {
  #handlers: readonly string[] = [];
  #groups = new ValueGroups([]);
  /** Set by the event loop, which has them. */
  external: ExternalValues = new Map();

  /** Their names, in the order of a forward event. */
  set handlers(names: readonly string[]) {
    this.#handlers = names;
    this.#groups = new ValueGroups(names);
  }

  value(key: string): Value | undefined {
    return this.#groups.value(key);
  }

  group(name: string): ReadonlyMap<string, Value> {
    return this.#groups.group(name);
  }

  owners(key: string): readonly string[] {
    return this.#groups.owners(key);
  }

  /** The transaction of an event: an update changes the groups, a resync builds new ones aside. */
  begin(method: EventMethod): EventTransaction {
    const isResync = method === EventMethod.FullResync || method === EventMethod.UpstreamResync;
    return new EventTransaction(
      isResync ? new ValueGroups(this.#handlers) : this.#groups,
      isResync,
    );
  }

  /**
   * Called when the event is committed, or cannot be: what was not committed, or was reverted, is forgotten. What
   * failed in a resync or in a best-effort update remains desired.
   */
  end({ method, txn, stopped, isRevertible, errors, isUndeploy }: ProcessingState): void {
    if (stopped || (isRevertible && errors.length > 0)) txn.revert();
    else if (isUndeploy) this.#groups = new ValueGroups(this.#handlers);
    else if (method !== EventMethod.DownstreamResync) this.#groups = txn.groups;
  }
}
