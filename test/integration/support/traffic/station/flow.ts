import type { Connection, FlowReport } from './commands.ts';

const PAUSE_MS = 5;
/** After an interruption of 30 s, TCP repeats a message at most 30 s later. */
const RETURN_LIMIT_MS = 120_000;

/** A connection over which one message after the other goes out and returns, until none returns any more. */
export class Flow {
  #lastReturnedAt = Date.now();
  #longestGapMs = 0;

  constructor(connection: Connection) {
    void this.#send(connection);
  }

  report(): FlowReport {
    const report = { lastReturnedAt: this.#lastReturnedAt, longestGapMs: this.#longestGapMs };
    this.#longestGapMs = 0;
    return report;
  }

  async #send(connection: Connection): Promise<void> {
    while (await connection.check(RETURN_LIMIT_MS)) {
      const now = Date.now();
      this.#longestGapMs = Math.max(this.#longestGapMs, now - this.#lastReturnedAt);
      this.#lastReturnedAt = now;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
