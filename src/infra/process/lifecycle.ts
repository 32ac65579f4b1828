/**
 * Init, after-init and close of the parts of a program: all inits in order, then all after-inits in
 * order, and at the end the closes in reverse. Each has a time limit, and whoever exceeds it is
 * named.
 */
import type { Clock } from '../clock/clock.ts';
import { defineError } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';

export interface Component {
  readonly name: string;
  init?(): Promise<void> | void;
  /** Runs when every part is initialized: from here on parts may call each other. */
  afterInit?(): Promise<void> | void;
  /** Runs only if `init` has succeeded. */
  close?(): Promise<void> | void;
}

export const TimeLimitError = defineError({
  name: 'TimeLimitError',
  code: 'CV_PROCESS_TIME_LIMIT',
  remedy: 'Look at the last log lines of the named part; STARTUPTIMEOUT raises the start limit.',
});

export const StartAbandonedError = defineError({
  name: 'StartAbandonedError',
  code: 'CV_PROCESS_START_ABANDONED',
  remedy: 'Nothing: the end was asked for before the start was done.',
});

export interface LifecycleLimits {
  /** For all inits and after-inits together, milliseconds; 0: none. */
  readonly startMs: number;
  /** For each close, milliseconds; 0: none. */
  readonly stopMs: number;
}

export class Lifecycle {
  readonly #parts: readonly Component[];
  readonly #limits: LifecycleLimits;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #open: Component[] = [];
  #starting: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(parts: readonly Component[], limits: LifecycleLimits, clock: Clock, log: Logger) {
    this.#parts = parts;
    this.#limits = limits;
    this.#clock = clock;
    this.#log = log;
  }

  /** Rejects with the first error, after closing what was already initialized. */
  start(): Promise<void> {
    this.#starting = this.#start();
    return this.#starting;
  }

  /**
   * Closes everything, whatever fails meanwhile; errors are logged. A start under way is abandoned:
   * the step that it is at may end because what it waits for is closed, and none comes after it.
   */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#close();
    const abandoned = this.#starting.catch(() => undefined);
    await this.#limited(abandoned, 'the start', 'end', this.#limits.stopMs).catch((error) =>
      this.#log.error({ err: error }, 'the start goes on although its parts are closed'),
    );
  }

  async #start(): Promise<void> {
    const { startMs } = this.#limits;
    const end = this.#clock.monotonic() + startMs;
    const left = () => (startMs === 0 ? 0 : Math.max(1, end - this.#clock.monotonic()));
    try {
      for (const part of this.#parts) {
        this.#ensureGoingOn();
        await this.#limited(part.init?.(), part.name, 'init', left());
        this.#open.push(part);
      }
      for (const part of this.#parts) {
        this.#ensureGoingOn();
        await this.#limited(part.afterInit?.(), part.name, 'afterInit', left());
      }
      this.#ensureGoingOn();
    } catch (error) {
      await this.#close();
      throw error;
    }
  }

  #ensureGoingOn(): void {
    if (this.#stopped) throw new StartAbandonedError('the start was abandoned');
  }

  async #close(): Promise<void> {
    for (let part = this.#open.pop(); part; part = this.#open.pop()) {
      try {
        await this.#limited(part.close?.(), part.name, 'close', this.#limits.stopMs);
      } catch (error) {
        this.#log.error({ part: part.name, err: error }, 'part did not close cleanly');
      }
    }
  }

  /** @param ms 0: no limit */
  async #limited(
    work: Promise<void> | void,
    part: string,
    step: string,
    ms: number,
  ): Promise<void> {
    if (!work) return;
    if (ms === 0) return work;
    const limit = Promise.withResolvers<never>();
    const timer = this.#clock.timer(ms, () =>
      limit.reject(new TimeLimitError(`${step} is not done in time`, { where: part })),
    );
    try {
      await Promise.race([work, limit.promise]);
    } finally {
      timer.cancel();
    }
  }
}
