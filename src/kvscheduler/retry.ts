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

/** Timers of repetitions. */
export class Retries {
  readonly #clock: Clock;
  readonly #due: (group: RetryGroup) => void;
  readonly #timers = new Set<Timer>();

  /** @param due called when the time of a group has come */
  constructor(clock: Clock, due: (group: RetryGroup) => void) {
    this.#clock = clock;
    this.#due = due;
  }

  schedule(group: RetryGroup): void {
    const timer = this.#clock.timer(group.delayMs, () => {
      this.#timers.delete(timer);
      this.#due(group);
    });
    this.#timers.add(timer);
  }

  cancel(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }
}

/**
 * Groups what has to be repeated by when it has to be.
 * @param before the repetition that has just failed, if it was one
 */
export async function groupRetries(
  seqNum: number,
  nodes: Iterable<Node>,
  before: RetryGroup | undefined,
  slices: Slices,
): Promise<RetryGroup[]> {
  const groups = new Map<string, RetryGroup & { readonly keys: Map<string, number> }>();
  for (const { root } of nodes) {
    if (slices.due()) await slices.turn();
    const { key, retry } = root;
    if (!retry) continue;
    const again = before?.keys.has(key) ? before : undefined;
    const longer = retry.exponential ? 2 : 1;
    const delayMs = again ? again.delayMs * longer : retry.periodMs;
    const attempt = (again?.attempt ?? 0) + 1;
    const forTxn = again?.forTxn ?? seqNum;
    const name = `${delayMs}/${attempt}/${forTxn}`;
    const group = groups.get(name) ?? { delayMs, attempt, forTxn, keys: new Map() };
    groups.set(name, group);
    group.keys.set(key, root.seqNum);
  }
  return [...groups.values()];
}
