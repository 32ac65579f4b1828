/**
 * The history of every node of the graph. A transaction adds a revision for each node that it changed
 * and nothing else; queries compute the rest. Current revisions are always kept, ended ones as long as
 * `Retention` permits.
 */
import type { Clock } from '#infra/clock/clock.ts';
import type { Slices } from '#infra/clock/slices.ts';
import type { ValueState } from '../../api/value-state.ts';
import type { Graph } from '../../graph/graph.ts';
import type { Node } from '../../graph/node.ts';
import { Retention, type RetentionLimits } from '../retention.ts';
import {
  isSameRevision,
  type KeyRevisions,
  type Revision,
  revisionOf,
  sizeOfRevision,
} from './revision.ts';

interface EndedRevision {
  readonly of: KeyRevisions;
  readonly revision: Revision;
}

export class Timeline {
  readonly #clock: Clock;
  readonly #ended: Retention<EndedRevision>;
  readonly #byKey = new Map<string, KeyRevisions>();
  readonly #states = new Map<ValueState, number>();
  /** All transactions up to this time are recorded. */
  #complete = Number.POSITIVE_INFINITY;
  #last = 0;
  /** Period of the dropped revisions: beginning of the first, end of the last. */
  #lostSince = Number.POSITIVE_INFINITY;
  #lostUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, limits: RetentionLimits) {
    this.#clock = clock;
    this.#ended = new Retention(clock, limits);
  }

  /** Rough size in memory of the ended revisions. */
  get bytes(): number {
    return this.#ended.bytes;
  }

  /** The number of values in each state. */
  get states(): ReadonlyMap<ValueState, number> {
    return this.#states;
  }

  /** The last time, in microseconds since the epoch, for which the whole graph is recorded. */
  get now(): number {
    return Math.min(Math.round(this.#clock.now() * 1000), this.#complete);
  }

  /**
   * Records the nodes that a transaction may have changed or removed.
   * @param changed some of them more than once
   * @param micros the time, in microseconds since the epoch
   */
  async record(
    graph: Graph,
    changed: readonly Node[],
    micros: number,
    slices: Slices,
  ): Promise<void> {
    const time = Math.max(micros, this.#last);
    this.#last = time;
    this.#complete = time - 1;
    await slices.each(changed, ({ key }) => this.#note(key, graph.peek(key), time));
    this.#complete = Number.POSITIVE_INFINITY;
    await this.#trim(slices);
  }

  get(key: string): KeyRevisions | undefined {
    return this.#byKey.get(key);
  }

  /** In no order. */
  all(): Iterable<KeyRevisions> {
    return this.#byKey.values();
  }

  /** Whether all revisions of this time are still kept. */
  covers(time: number): boolean {
    return time < this.#lostSince || time >= this.#lostUntil;
  }

  #note(key: string, node: Node | undefined, time: number): void {
    const known = this.#byKey.get(key);
    const last = known?.last?.until === undefined ? known?.last : undefined;
    if (!node) {
      if (known && last) this.#end(known, last, time);
      return;
    }
    const next = revisionOf(node, time, known?.last);
    if (last && isSameRevision(last, next)) return;
    const chain = known ?? this.#begin(node);
    if (chain.last) chain.last.after = next;
    chain.first ??= next;
    chain.last = next;
    this.#count(next.state, 1);
    if (last) this.#end(chain, last, time);
  }

  #begin({ key, descriptor }: Node): KeyRevisions {
    const chain = { key, descriptor, first: undefined, last: undefined };
    this.#byKey.set(key, chain);
    return chain;
  }

  #end(chain: KeyRevisions, revision: Revision, time: number): void {
    revision.until = time;
    this.#count(revision.state, -1);
    this.#ended.add(
      { of: chain, revision },
      revision.since / 1000,
      time / 1000,
      sizeOfRevision(revision),
    );
  }

  #count(state: ValueState, difference: number): void {
    this.#states.set(state, (this.#states.get(state) ?? 0) + difference);
  }

  async #trim(slices: Slices): Promise<void> {
    for (let over = this.#ended.takeExpired(); over; over = this.#ended.takeExpired()) {
      if (slices.due()) await slices.turn();
      this.#drop(over);
    }
  }

  #drop({ of: chain, revision }: EndedRevision): void {
    const { before, after, since, until = since } = revision;
    if (before) before.after = after;
    else chain.first = after;
    if (after) after.before = before;
    else chain.last = before;
    if (!chain.first) this.#byKey.delete(chain.key);
    this.#lostSince = Math.min(this.#lostSince, since);
    this.#lostUntil = Math.max(this.#lostUntil, until);
  }
}
