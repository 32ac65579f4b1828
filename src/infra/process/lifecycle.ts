/**
 * Init, after-init and close of the parts of a program: all inits in order, then all after-inits in
 * order, and at the end the closes in reverse. Each has a time limit, and whoever exceeds it is
 * named.
 */
import type { Clock } from '../clock/clock.ts';
import { defineError } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';

export interface Part {
  readonly name: string;
  init?(): Promise<void> | void;
  /** Runs when every part is initialised: from here on parts may call each other. */
  afterInit?(): Promise<void> | void;
  /** Runs only if `init` has succeeded. */
  close?(): Promise<void> | void;
}

export const ErrTimeLimit = defineError({
  name: 'ErrTimeLimit',
  code: 'CV_PROCESS_TIME_LIMIT',
  remedy: 'Look at the last log lines of the named part; STARTUPTIMEOUT raises the start limit.',
});

export interface LifecycleLimits {
  /** For all inits and after-inits together, milliseconds; 0: none. */
  readonly startMs: number;
  /** For each close, milliseconds; 0: none. */
  readonly stopMs: number;
}

export class Lifecycle {
  readonly #parts: readonly Part[];
  readonly #limits: LifecycleLimits;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #started: Part[] = [];

  constructor(parts: readonly Part[], limits: LifecycleLimits, clock: Clock, log: Logger) {
    this.#parts = parts;
    this.#limits = limits;
    this.#clock = clock;
    this.#log = log;
  }

  /** Rejects with the first error, after closing what was already initialised. */
  async start(): Promise<void> {
    const end = this.#clock.monotonic() + this.#limits.startMs;
    const left = () => (this.#limits.startMs === 0 ? 0 : end - this.#clock.monotonic());
    try {
      for (const part of this.#parts) {
        await this.#limited(part, 'init', left());
        this.#started.push(part);
      }
      for (const part of this.#parts) await this.#limited(part, 'afterInit', left());
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Closes everything, whatever fails meanwhile; errors are logged. */
  async stop(): Promise<void> {
    for (const part of this.#started.splice(0).reverse()) {
      try {
        await this.#limited(part, 'close', this.#limits.stopMs);
      } catch (error) {
        this.#log.error({ part: part.name, err: error }, 'part did not close cleanly');
      }
    }
  }

  async #limited(part: Part, step: 'init' | 'afterInit' | 'close', ms: number): Promise<void> {
    const work = part[step]?.();
    if (!work) return;
    if (ms === 0) return work;
    let cancel = (): void => undefined;
    const limit = new Promise<never>((_, reject) => {
      const timer = this.#clock.timer(ms, () =>
        reject(new ErrTimeLimit(`${step} is not done in time`, { where: part.name })),
      );
      cancel = () => timer.cancel();
    });
    try {
      await Promise.race([work, limit]);
    } finally {
      cancel();
    }
  }
}
