/**
 * What is to be repeated, and when.
 *
 * A base value has a series of repetitions: it begins when the value, or something derived from it,
 * fails, and ends at the limit of the value's policy. A value that fails again goes on where its
 * series stands; a new one begins only with a new wish, or with a failure in a later epoch, when the
 * series before it has ended. An epoch begins with each transaction that is no repetition: so
 * between two of those no value is repeated more often than its policy allows.
 *
 * After each transaction a value is RETRYING exactly if its next repetition has a timer. What it
 * stood in the way of needs none: plans find it by its relations when it can be done justice to. A
 * repetition leaves alone what has failed besides: so nobody's repetitions are tried at the pace of
 * others, or beyond their limit.
 */
import type { Clock, Timer } from '#infra/clock/clock.ts';
import type { Node } from '../graph/graph.ts';
import type { SchedulerContext } from './scheduler-context.ts';

/** Base values that are repeated together. */
export interface RetryGroup {
  /** Transaction in which they failed first. */
  readonly forTxn: number;
  /** 1 for the first repetition. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly bases: ReadonlySet<Node>;
}

type OpenGroup = RetryGroup & { readonly bases: Set<Node> };

interface Series {
  /** Its latest repetition, set or begun. */
  readonly group: OpenGroup;
  /** The transaction that wished something for the value last: a later one overrules. */
  readonly seqNum: number;
  /** In which something of it happened last. */
  epoch: number;
}

export class Retries {
  readonly #clock: Clock;
  readonly #due: (group: RetryGroup) => void;
  readonly #series = new WeakMap<Node, Series>();
  /** Groups whose turn has not come; the timer of some may have fired. */
  readonly #waiting = new Map<RetryGroup, Timer>();
  #epoch = 0;
  #closed = false;

  /** @param due called when the time of a group has come; `begin` has to follow */
  constructor(clock: Clock, due: (group: RetryGroup) => void) {
    this.#clock = clock;
    this.#due = due;
  }

  /** To be called for each transaction that is no repetition. */
  startEpoch(): void {
    this.#epoch++;
  }

  /** Whether the base value is going to be repeated if it fails now. */
  mayRetry(base: Node): boolean {
    const { retry } = base;
    if (!retry) return false;
    const attempts = this.#standing(base)?.group.attempt ?? 0;
    return retry.maxAttempts === 0 || attempts < retry.maxAttempts;
  }

  /** The turn of a group has come. */
  begin(group: RetryGroup): void {
    this.#waiting.delete(group);
    for (const base of group.bases) {
      const series = this.#series.get(base);
      if (series?.group === group) series.epoch = this.#epoch;
    }
  }

  /**
   * To be called at the end of each transaction: sets the next repetitions.
   * @param failed nodes of which an operation failed in it
   * @returns nodes that are given up although nothing was tried: their time came when something
   * stood in the way
   */
  async settle(
    seqNum: number,
    failed: ReadonlySet<Node>,
    { graph, writer, slices }: SchedulerContext,
  ): Promise<readonly Node[]> {
    const givenUp: Node[] = [];
    if (this.#closed) return givenUp;
    // By base value: what of it is to be repeated, and whether it has just failed.
    const bases = new Map<Node, { readonly retrying: Node[]; isNews: boolean }>();
    for (const node of graph.failed) {
      if (slices.due()) await slices.turn();
      const one = bases.get(node.root) ?? { retrying: [], isNews: false };
      bases.set(node.root, one);
      if (node.state === 'RETRYING') one.retrying.push(node);
      if (failed.has(node)) one.isNews = true;
    }
    const groups = new Map<string, OpenGroup>();
    for (const [base, { retrying, isNews }] of bases) {
      if (slices.due()) await slices.turn();
      if (!isNews && this.#isWaiting(base)) continue;
      if (retrying.length > 0 && this.mayRetry(base)) this.#join(groups, seqNum, base);
      else {
        this.#leave(base);
        for (const node of retrying) writer.setFailed(node, false);
        givenUp.push(...retrying);
      }
    }
    for (const group of this.#waiting.keys())
      for (const base of group.bases) {
        if (slices.due()) await slices.turn();
        if (!bases.get(base)?.retrying.length) this.#leave(base);
      }
    for (const group of groups.values()) this.#start(group);
    return givenUp;
  }

  /** Nothing is repeated any more. */
  cancel(): void {
    this.#closed = true;
    for (const timer of this.#waiting.values()) timer.cancel();
    this.#waiting.clear();
  }

  /** Puts a base value where its next repetition is. */
  #join(groups: Map<string, OpenGroup>, seqNum: number, base: Node): void {
    const { retry } = base;
    if (!retry) return;
    const last = this.#standing(base)?.group;
    const attempt = (last?.attempt ?? 0) + 1;
    const forTxn = last?.forTxn ?? seqNum;
    const longer = retry.exponential ? 2 : 1;
    const delayMs = last ? last.delayMs * longer : retry.periodMs;
    const name = `${delayMs}/${attempt}/${forTxn}`;
    const group = groups.get(name) ?? { delayMs, attempt, forTxn, bases: new Set() };
    groups.set(name, group);
    this.#leave(base);
    group.bases.add(base);
    this.#series.set(base, { group, seqNum: base.seqNum, epoch: this.#epoch });
  }

  /** Takes a base value out of the repetition that it waits for. */
  #leave(base: Node): void {
    const group = this.#series.get(base)?.group;
    group?.bases.delete(base);
    if (!group || group.bases.size > 0) return;
    this.#waiting.get(group)?.cancel();
    this.#waiting.delete(group);
  }

  #start(group: OpenGroup): void {
    this.#waiting.set(
      group,
      this.#clock.timer(group.delayMs, () => this.#due(group)),
    );
  }

  /** The series that a failure would go on with. */
  #standing(base: Node): Series | undefined {
    const series = this.#series.get(base);
    if (series?.seqNum !== base.seqNum) return undefined;
    return series.epoch === this.#epoch || this.#isWaiting(base) ? series : undefined;
  }

  #isWaiting(base: Node): boolean {
    const series = this.#series.get(base);
    if (series?.seqNum !== base.seqNum) return false;
    return series.group.bases.has(base) && this.#waiting.has(series.group);
  }
}
