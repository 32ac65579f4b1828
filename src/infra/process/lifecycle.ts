/**
 * Init, after-init and close of the components of a program: all inits in order, then all after-inits
 * in order, and at the end the closes in reverse order. Each has a time limit; an error names the
 * component that exceeds it.
 */
import type { Clock } from '../clock/clock.ts';
import { defineError } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';
import { Tracer } from '../log/tracer.ts';

export interface Component {
  readonly name: string;
  init?(): Promise<void> | void;
  /** Runs when every component is initialized; from here on components may call each other. */
  afterInit?(): Promise<void> | void;
  /** Runs only if `init` has succeeded. */
  close?(): Promise<void> | void;
}

export const TimeLimitError = defineError({
  name: 'TimeLimitError',
  code: 'CV_PROCESS_TIME_LIMIT',
  remedy: 'Read the last log lines of the component; STARTUPTIMEOUT sets the limit of the start.',
});

export const StartAbandonedError = defineError({
  name: 'StartAbandonedError',
  code: 'CV_PROCESS_START_ABANDONED',
  remedy: 'None: the agent was stopped before its start was complete.',
});

export interface LifecycleLimits {
  /** Milliseconds for all inits and after-inits together; 0: unlimited. */
  readonly startMs: number;
  /** Milliseconds for each close; 0: unlimited. */
  readonly stopMs: number;
}

export class Lifecycle {
  readonly #components: readonly Component[];
  readonly #limits: LifecycleLimits;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #open: Component[] = [];
  #starting: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(
    components: readonly Component[],
    limits: LifecycleLimits,
    clock: Clock,
    log: Logger,
  ) {
    this.#components = components;
    this.#limits = limits;
    this.#clock = clock;
    this.#log = log;
  }

  /** Rejects with the first error, after closing the components that are initialized. */
  start(): Promise<void> {
    this.#starting = this.#start();
    return this.#starting;
  }

  /**
   * Closes all components; errors are logged. A start in progress is abandoned: its current step may
   * end because the component that it waits for is closed, and no further step runs.
   */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#close();
    const abandoned = this.#starting.catch(() => undefined);
    await this.#limited(abandoned, 'the start', 'end', this.#limits.stopMs).catch((error) =>
      this.#log.error({ err: error }, 'startup continued after shutdown'),
    );
  }

  async #start(): Promise<void> {
    const { startMs } = this.#limits;
    const end = this.#clock.monotonic() + startMs;
    const left = () => (startMs === 0 ? 0 : Math.max(1, end - this.#clock.monotonic()));
    const tracer = new Tracer('start', this.#log, this.#clock);
    const step = async (component: Component, name: 'init' | 'afterInit'): Promise<void> => {
      this.#ensureGoingOn();
      if (!component[name]) return;
      const start = this.#clock.monotonic();
      await this.#limited(component[name](), component.name, name, left());
      tracer.logTime(`${name} of ${component.name}`, start);
    };
    try {
      for (const component of this.#components) {
        await step(component, 'init');
        this.#open.push(component);
      }
      for (const component of this.#components) await step(component, 'afterInit');
      this.#ensureGoingOn();
      this.#log.debug({ ms: tracer.get().overall_duration / 1e6 }, 'all components are started');
    } catch (error) {
      await this.#close();
      throw error;
    }
  }

  #ensureGoingOn(): void {
    if (this.#stopped)
      throw new StartAbandonedError('the start was abandoned: the agent is stopping');
  }

  async #close(): Promise<void> {
    for (let component = this.#open.pop(); component; component = this.#open.pop()) {
      try {
        await this.#limited(component.close?.(), component.name, 'close', this.#limits.stopMs);
      } catch (error) {
        this.#log.error({ component: component.name, err: error }, 'closing the component failed');
      }
    }
  }

  /** @param ms 0: unlimited */
  async #limited(
    work: Promise<void> | void,
    component: string,
    step: string,
    ms: number,
  ): Promise<void> {
    if (!work) return;
    if (ms === 0) return work;
    const limit = Promise.withResolvers<never>();
    const timer = this.#clock.timer(ms, () =>
      limit.reject(new TimeLimitError(`${step} exceeded its time limit`, { where: component })),
    );
    try {
      await Promise.race([work, limit.promise]);
    } finally {
      timer.cancel();
    }
  }
}
