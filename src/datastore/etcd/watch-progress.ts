import type { IEvent, IWatchResponse } from 'etcd3';
import type { KvChange } from '../api.ts';
import { type Position, tokenOf } from './database-identity.ts';

/**
 * Turns what streams deliver into changes, each once and in order, and says where the next stream
 * has to begin. That is told by the last change that was handed on and by nothing else: the
 * revisions in headers run ahead of the changes while a stream catches up, and whoever goes on from
 * those after a second cut has lost what lay between.
 */
export class WatchProgress {
  #revision: number;
  #partial: number;
  /** Changes of a transaction of which more is to come in the next fragment. */
  #held: IEvent[] = [];

  constructor(position: Position) {
    this.#revision = position.revision;
    this.#partial = position.partial;
  }

  /** The first revision of which something is not known; a new stream begins there. */
  get next(): number {
    this.#held = [];
    return this.#revision + 1;
  }

  accept(response: IWatchResponse, epoch: number): KvChange[] {
    const events = [...this.#held, ...response.events];
    const last = events.at(-1);
    if (!last) return [];
    // A stream that is cut within a transaction has to begin before it, so the part that came is
    // kept back until the rest is there.
    const whole = response.fragment
      ? events.findIndex((event) => event.kv.mod_revision === last.kv.mod_revision)
      : events.length;
    this.#held = events.slice(whole);
    const changes: KvChange[] = [];
    for (let at = 0; at < whole; ) {
      const revision = Number(events[at]!.kv.mod_revision);
      let end = at + 1;
      while (end < whole && Number(events[end]!.kv.mod_revision) === revision) end++;
      // etcd 3.4 may go back in time; what was handed on is not handed on again.
      if (revision > this.#revision) changes.push(...this.#changes(events.slice(at, end), epoch));
      at = end;
    }
    return changes;
  }

  /** The changes of one transaction, less those that were known at the start. */
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
