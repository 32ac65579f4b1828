import type { IEvent, IWatchResponse } from 'etcd3';
import type { KvChange } from '../api.ts';
import { type Position, tokenOf } from './database-identity.ts';

/**
 * Converts the responses of watch streams to changes, each once and in order, and determines the
 * start revision of the next stream. Only the last delivered change determines it: the revisions in
 * headers are ahead of the changes while a stream catches up, so a resume from these after a second
 * disconnect would lose changes.
 */
export class WatchProgress {
  #revision: number;
  #partial: number;
  /** Changes of an incomplete transaction, which continues in the next fragment. */
  #incomplete: IEvent[] = [];

  constructor(position: Position) {
    this.#revision = position.revision;
    this.#partial = position.partial;
  }

  /** The first revision that is not completely delivered: the start of a new stream. */
  get next(): number {
    this.#incomplete = [];
    return this.#revision + 1;
  }

  /** Whether older changes may follow a message: one of a current stream ends with the revision of its header. */
  mayBeBehind({ events, fragment, header }: IWatchResponse): boolean {
    const last = events.at(-1);
    return !fragment && last !== undefined && last.kv.mod_revision !== header.revision;
  }

  accept(response: IWatchResponse, epoch: number): KvChange[] {
    const events = [...this.#incomplete, ...response.events];
    const last = events.at(-1);
    if (!last) return [];
    // After a disconnect within a transaction the next stream starts before it, so the changes of an
    // incomplete transaction are retained until the rest arrives.
    const whole = response.fragment
      ? events.findIndex((event) => event.kv.mod_revision === last.kv.mod_revision)
      : events.length;
    this.#incomplete = events.slice(whole);
    const changes: KvChange[] = [];
    for (let at = 0; at < whole; ) {
      const revision = Number(events[at]!.kv.mod_revision);
      let end = at + 1;
      while (end < whole && Number(events[end]!.kv.mod_revision) === revision) end++;
      // etcd 3.4 may send older revisions again; changes are not delivered twice.
      if (revision > this.#revision) changes.push(...this.#changes(events.slice(at, end), epoch));
      at = end;
    }
    return changes;
  }

  /** The changes of one transaction, without those that were delivered before the start. */
  #changes(events: readonly IEvent[], epoch: number): KvChange[] {
    const revision = Number(events[0]!.kv.mod_revision);
    const known = revision === this.#revision + 1 ? this.#partial : 0;
    this.#revision = revision;
    this.#partial = 0;
    return events
      .map((event, at) => ({
        key: event.kv.key.toString(),
        value: event.type === 'Put' ? event.kv.value.toString() : undefined,
        revision: tokenOf(
          at === events.length - 1
            ? { epoch, revision, partial: 0 }
            : { epoch, revision: revision - 1, partial: at + 1 },
        ),
      }))
      .slice(known);
  }
}
