import type { Clock } from '#infra/clock/clock.ts';
import { ReentryGuard } from '#infra/process/reentry-guard.ts';
import type { AnyDescriptor } from '../api/descriptor.ts';
import type { DescriptorMethod, Observer } from '../history/observer.ts';

/** A call of `create`, `update`, `delete` or `retrieve` that has begun. */
export interface DescriptorCall {
  readonly began: number;
  isOver: boolean;
}

/** Counts and times the calls of descriptors, and recognizes what runs as part of one. */
export class DescriptorCalls {
  readonly #clock: Clock;
  readonly #observer: Observer;
  readonly #guard = new ReentryGuard();
  #inFlight = 0;

  constructor(clock: Clock, observer: Observer) {
    this.#clock = clock;
    this.#observer = observer;
  }

  /** The number of creates, updates and deletes without an answer. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Whether the code that asks belongs to a call that the running transaction waits for. */
  get isInside(): boolean {
    return this.#guard.isInside;
  }

  /**
   * An operation starts: its code belongs into `run`.
   * @param now the time, if the caller has it: the clock is read twice for each operation otherwise
   */
  begin(now?: number): DescriptorCall {
    this.#inFlight++;
    return this.#begin(now);
  }

  run<A extends unknown[], T>(call: DescriptorCall, body: (...args: A) => T, ...args: A): T {
    return this.#guard.run(call, body, ...args);
  }

  /** The operation has its answer. @returns the time */
  end(
    descriptor: string,
    method: Exclude<DescriptorMethod, 'Retrieve'>,
    call: DescriptorCall,
  ): number {
    this.#inFlight--;
    return this.#end(descriptor, method, call);
  }

  /** The same descriptor with a `retrieve` that is timed and guarded. */
  timed(descriptor: AnyDescriptor): AnyDescriptor {
    const { name, retrieve } = descriptor;
    if (!retrieve) return descriptor;
    return {
      ...descriptor,
      retrieve: async (correlate, context) => {
        const call = this.#begin();
        try {
          return await this.run(call, () => retrieve(correlate, context));
        } finally {
          this.#end(name, 'Retrieve', call);
        }
      },
    };
  }

  #begin(now = this.#clock.monotonic()): DescriptorCall {
    return { began: now, isOver: false };
  }

  #end(descriptor: string, method: DescriptorMethod, call: DescriptorCall): number {
    call.isOver = true;
    const now = this.#clock.monotonic();
    this.#observer.called(descriptor, method, now - call.began);
    return now;
  }
}
