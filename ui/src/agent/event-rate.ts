/** Counts events of the last ten minutes in buckets, so that a busy agent costs no more than an idle one. */

const BUCKET_MS = 10_000;
const MAX_BUCKETS = 60;

export class EventRate {
  /** Number of events by the number of their bucket; the oldest first. */
  readonly #buckets = new Map<number, number>();

  /** @param ms milliseconds since the epoch, by the clock of the agent */
  add(ms: number): void {
    const bucket = Math.floor(ms / BUCKET_MS);
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + 1);
    for (const one of this.#buckets.keys()) {
      if (this.#buckets.size <= MAX_BUCKETS && one > bucket - MAX_BUCKETS) break;
      this.#buckets.delete(one);
    }
  }

  /** Events in the whole buckets of the last minute. @param now by the clock of the agent */
  lastMinute(now: number): number {
    return this.series(now)
      .slice(-6)
      .reduce((sum, count) => sum + count, 0);
  }

  /** Number of events in each bucket, the oldest first; the last is the current one. */
  series(now: number): readonly number[] {
    const current = Math.floor(now / BUCKET_MS);
    return Array.from(
      { length: MAX_BUCKETS },
      (_, at) => this.#buckets.get(current - MAX_BUCKETS + 1 + at) ?? 0,
    );
  }
}
