import type { Clock, Timer } from '#infra/clock/clock.ts';
import type { Node } from './graph.ts';
import type { Slices } from './slices.ts';

/** Values whose operations failed and are repeated together. */
export interface RetryGroup {
  /** Transaction in which they failed first. */
  readonly forTxn: number;
  /** 1 for the first repetition. */
  readonly attempt: number;
  readonly delayMs: number;
  /** Base values with the transaction that wished something for them last: later ones overrule. */
  readonly keys: ReadonlyMap<string, number>;
}

type OpenGroup = RetryGroup & { readonly keys: Map<string, number> };

/**
 * What is to be repeated, and when. A value stands in one group at most: whatever transaction it
 * fails in once more, its attempts are counted on, and its next repetition takes the place of the
 * one that it waited for.
 */
export class Retries {
  readonly #clock: Clock;
  readonly #due: (group: RetryGroup) => void;
  readonly #groups = new Map<string, OpenGroup>();
  readonly #timers = new Map<RetryGroup, Timer>();
  #closed = false;

  /** @param due called when the time of a group has come; `end` has to follow */
  constructor(clock: Clock, due: (group: RetryGroup) => void) {
    this.#clock = clock;
    this.#due = due;
  }

  /** The how-many-eth repetition it would be if the base value failed now; 1 for the first. */
  nextAttempt(base: Node): number {
    return (this.#standing(base)?.attempt ?? 0) + 1;
  }

  /**
   * Plans the next repetition of values.
   * @param seqNum of the transaction in which they failed
   */
  async schedule(seqNum: number, nodes: Iterable<Node>, slices: Slices): Promise<void> {
    const groups = new Map<string, OpenGroup>();
    for (const { root } of nodes) {
      if (slices.due()) await slices.turn();
      const { key, retry } = root;
      if (!retry) continue;
      const last = this.#standing(root);
      const longer = retry.exponential ? 2 : 1;
      const delayMs = last ? last.delayMs * longer : retry.periodMs;
      const attempt = this.nextAttempt(root);
      const forTxn = last?.forTxn ?? seqNum;
      const name = `${delayMs}/${attempt}/${forTxn}`;
      const group = groups.get(name) ?? { delayMs, attempt, forTxn, keys: new Map() };
      groups.set(name, group);
      group.keys.set(key, root.seqNum);
    }
    for (const group of groups.values()) {
      for (const key of group.keys.keys()) {
        if (slices.due()) await slices.turn();
        this.#take(key);
        this.#groups.set(key, group);
      }
      if (!this.#closed) this.#start(group);
    }
  }

  /** To be called when a group was repeated, or found to be not worth it any more. */
  end(group: RetryGroup): void {
    for (const key of group.keys.keys()) this.#groups.delete(key);
  }

  /** Nothing is repeated any more. */
  cancel(): void {
    this.#closed = true;
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }

  #start(group: RetryGroup): void {
    const timer = this.#clock.timer(group.delayMs, () => {
      this.#timers.delete(group);
      this.#due(group);
    });
    this.#timers.set(group, timer);
  }

  /** The group that the value stands in, unless something else was wished for it since. */
  #standing({ key, seqNum }: Node): RetryGroup | undefined {
    const group = this.#groups.get(key);
    return group?.keys.get(key) === seqNum ? group : undefined;
  }

  #take(key: string): void {
    const group = this.#groups.get(key);
    group?.keys.delete(key);
    if (!group || group.keys.size > 0) return;
    this.#timers.get(group)?.cancel();
    this.#timers.delete(group);
  }
}
