import type { Random } from '#infra/clock/clock.ts';

/** The time of a southbound's replies: at once, a turn later, or in random order. */
export type Replies = 'now' | 'turn' | Random;

/** Calls that wait for their reply. */
export class ReplyLine {
  readonly #waiting: (() => void)[] = [];

  wait(replies: Replies): Promise<void> {
    if (replies === 'now') return Promise.resolve();
    if (replies === 'turn') return new Promise((resolve) => setImmediate(resolve));
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      setImmediate(() => {
        const index = Math.floor(replies.next() * this.#waiting.length);
        for (const release of this.#waiting.splice(index, 1)) release();
      });
    });
  }
}
