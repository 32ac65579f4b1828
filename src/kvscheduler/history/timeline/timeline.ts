/**
 * What every node of the graph was like over time. A transaction adds a revision for each node that
 * it changed and nothing else; what people ask for is put together when they ask. What stands now
 * is always kept, what is over for as long as `Retention` says.
 */
import type { Clock } from '#infra/clock/clock.ts';
import type { Slices } from '#infra/clock/slices.ts';
import type { ValueState } from '../../api/value-state.ts';
import type { Graph, Node } from '../../graph/graph.ts';
import { Retention, type RetentionLimits } from '../retention.ts';
import {
  type KeyRevisions,
  type Revision,
  revisionOf,
  sizeOfRevision,
  tellTheSame,
} from './revision.ts';

interface Over {
  readonly of: KeyRevisions;
  readonly revision: Revision;
}

export class Timeline {
  readonly #clock: Clock;
  readonly #over: Retention<Over>;
  readonly #byKey = new Map<string, KeyRevisions>();
  readonly #states = new Map<ValueState, number>();
  /** Up to here every transaction has been taken in. */
  #complete = Number.POSITIVE_INFINITY;
  #last = 0;
  /** Of what was dropped: when the first of it began and the last of it was over. */
  #lostSince = Number.POSITIVE_INFINITY;
  #lostUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, limits: RetentionLimits) {
    this.#clock = clock;
    this.#over = new Retention(clock, limits);
  }

  /** Rough size in memory of what is over. */
  get bytes(): number {
    return this.#over.bytes;
  }

  /** How many values are in each state now. */
  get states(): ReadonlyMap<ValueState, number> {
    return this.#states;
  }

  /** Microseconds since the epoch, as of which a whole picture of the graph can be given. */
  get now(): number {
    return Math.min(Math.round(this.#clock.now() * 1000), this.#complete);
  }

  /**
   * Takes in the nodes that a transaction may have changed or removed.
   * @param remarked those that got other metadata
   * @param micros when that was, in microseconds since the epoch
   */
  async record(
    graph: Graph,
    touched: ReadonlySet<Node>,
    remarked: Iterable<Node>,
    micros: number,
    slices: Slices,
  ): Promise<void> {
    const time = Math.max(micros, this.#last);
    this.#last = time;
    this.#complete = time - 1;
    for (const { key } of touched) {
      if (slices.due()) await slices.turn();
      this.#note(key, graph.peek(key), time);
    }
    for (const node of remarked) {
      if (slices.due()) await slices.turn();
      if (!touched.has(node)) this.#note(node.key, graph.peek(node.key), time);
    }
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

  /** Whether all that stood at this moment is still kept. */
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
    if (last && tellTheSame(last, next)) return;
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
    this.#over.add(
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
    for (let over = this.#over.takeOverdue(); over; over = this.#over.takeOverdue()) {
      if (slices.due()) await slices.turn();
      this.#drop(over);
    }
  }

  #drop({ of: chain, revision }: Over): void {
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
