/**
 * Schedules the retries of failed values.
 *
 * A base value has a series of retries. The series begins when the value or one derived from it fails,
 * and ends at the limit of the value's retry policy. A value that fails again continues its series. A
 * new series begins only when the value is set again, or when it fails in a later epoch after the last
 * series has ended. An epoch begins with each transaction that is not a retry: so between two of those
 * no value is retried more often than its policy allows.
 *
 * After each transaction a value is RETRYING exactly if its next retry has a timer. Values that it
 * blocks need no timer: plans reach them through their relations when they are not blocked any more. A
 * retry does not touch other failed values, so that each is retried at the pace and to the limit of its
 * own policy.
 */
import type { Clock, Timer } from '#infra/clock/clock.ts';
import type { Node } from '../graph/node.ts';
import type { SchedulerContext } from './scheduler-context.ts';

/** Base values that are retried together. */
export interface RetryGroup {
  /** The transaction in which they failed first. */
  readonly forTxn: number;
  /** 1 for the first retry. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly bases: ReadonlySet<Node>;
}

type OpenGroup = RetryGroup & { readonly bases: Set<Node> };

interface Series {
  /** Its latest retry, scheduled or started. */
  readonly group: OpenGroup;
  /** The last transaction that set the value: a later one ends the series. */
  readonly seqNum: number;
  /** The epoch of its last retry or failure. */
  epoch: number;
}

/** Retries of a base value, and of what is derived from it. */
export interface RetryStatus {
  /** The transaction in which it failed first. */
  readonly forTxn: number;
  /** Number of retries that have started. */
  readonly started: number;
  /** 0 means without limit. */
  readonly maxAttempts: number;
  /** Time of the next retry, in milliseconds since the epoch; undefined: there will be none. */
  readonly dueAt: number | undefined;
}

interface WaitingGroup {
  readonly timer: Timer;
  readonly dueAt: number;
}

export class Retries {
  readonly #clock: Clock;
  readonly #due: (group: RetryGroup) => void;
  readonly #series = new WeakMap<Node, Series>();
  /** Groups that have not started; the timer of some may have fired. */
  readonly #waiting = new Map<RetryGroup, WaitingGroup>();
  #epoch = 0;
  #closed = false;

  /** @param due called when the timer of a group fires; `begin` or `postpone` must follow */
  constructor(clock: Clock, due: (group: RetryGroup) => void) {
    this.#clock = clock;
    this.#due = due;
  }

  /** To be called for each transaction that is not a retry. */
  startEpoch(): void {
    this.#epoch++;
  }

  /** Whether the base value is going to be retried if it fails now. */
  mayRetry(base: Node): boolean {
    const { retry } = base;
    if (!retry) return false;
    const attempts = this.#openSeries(base)?.group.attempt ?? 0;
    return retry.maxAttempts === 0 || attempts < retry.maxAttempts;
  }

  /** The retry of a group starts. */
  begin(group: RetryGroup): void {
    this.#waiting.delete(group);
    for (const base of group.bases) {
      const series = this.#series.get(base);
      if (series?.group === group) series.epoch = this.#epoch;
    }
  }

  /** In place of `begin`: the group is due again after the same delay, without an attempt. */
  postpone(group: RetryGroup): void {
    if (this.#waiting.has(group)) this.#start(group);
  }

  /**
   * To be called at the end of each transaction: schedules the next retries.
   * @param touched nodes that it may have changed: of all others, the retries stay as they are
   * @param failed nodes with an operation that failed in it
   * @returns nodes that are given up without an attempt: they were blocked when their retry was due
   */
  async settle(
    seqNum: number,
    touched: readonly Node[],
    failed: ReadonlySet<Node>,
    { graph, writer, slices }: SchedulerContext,
  ): Promise<readonly Node[]> {
    const givenUp: Node[] = [];
    if (this.#closed || (graph.failed.size === 0 && this.#waiting.size === 0)) return givenUp;
    const bases = new Set<Node>();
    await slices.each(touched, ({ root }) => bases.add(root));
    const groups = new Map<string, OpenGroup>();
    await slices.each([...bases], (base) => {
      const nodes = [...graph.failedOf(base)];
      const retrying = nodes.filter(({ state }) => state === 'RETRYING');
      if (retrying.length > 0) {
        if (this.#isWaiting(base) && !nodes.some((node) => failed.has(node))) return;
        if (this.mayRetry(base)) {
          this.#join(groups, seqNum, base);
          return;
        }
      }
      this.#leave(base);
      for (const node of retrying) writer.setFailed(node, false);
      givenUp.push(...retrying);
    });
    for (const group of groups.values()) this.#start(group);
    return givenUp;
  }

  /** @returns undefined if the base value was not retried since it was set, and will not be */
  statusOf(base: Node): RetryStatus | undefined {
    const series = this.#series.get(base);
    if (!base.retry || series?.seqNum !== base.seqNum) return undefined;
    const { forTxn, attempt } = series.group;
    const isWaiting = this.#isWaiting(base);
    return {
      forTxn,
      started: isWaiting ? attempt - 1 : attempt,
      maxAttempts: base.retry.maxAttempts,
      dueAt: isWaiting ? this.#waiting.get(series.group)?.dueAt : undefined,
    };
  }

  /** Cancels all retries. */
  cancel(): void {
    this.#closed = true;
    for (const { timer } of this.#waiting.values()) timer.cancel();
    this.#waiting.clear();
  }

  /** Adds a base value to the group of its next retry. */
  #join(groups: Map<string, OpenGroup>, seqNum: number, base: Node): void {
    const { retry } = base;
    if (!retry) return;
    const last = this.#openSeries(base)?.group;
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

  /** Removes a base value from the group that it waits in. */
  #leave(base: Node): void {
    const group = this.#series.get(base)?.group;
    group?.bases.delete(base);
    if (!group || group.bases.size > 0) return;
    this.#waiting.get(group)?.timer.cancel();
    this.#waiting.delete(group);
  }

  #start(group: RetryGroup): void {
    const dueAt = this.#clock.now() + group.delayMs;
    const timer = this.#clock.timer(group.delayMs, () => this.#due(group));
    this.#waiting.set(group, { timer, dueAt });
  }

  /** The series that a failure would continue. */
  #openSeries(base: Node): Series | undefined {
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
