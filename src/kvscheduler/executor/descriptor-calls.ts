import type { Clock } from '#infra/clock/clock.ts';
import type { AnyDescriptor } from '../api/descriptor.ts';
import type { DescriptorMethod, Observer } from '../history/observer.ts';

/** Counts and times the calls of descriptors. */
export class DescriptorCalls {
  readonly #clock: Clock;
  readonly #observer: Observer;
  #inFlight = 0;

  constructor(clock: Clock, observer: Observer) {
    this.#clock = clock;
    this.#observer = observer;
  }

  /** The number of creates, updates and deletes without an answer. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** An operation starts. @returns the time, for `end` */
  begin(): number {
    this.#inFlight++;
    return this.#clock.monotonic();
  }

  end(descriptor: string, method: Exclude<DescriptorMethod, 'Retrieve'>, began: number): void {
    this.#inFlight--;
    this.#observer.called(descriptor, method, this.#clock.monotonic() - began);
  }

  /** The same descriptor with a timed `retrieve`. */
  timed(descriptor: AnyDescriptor): AnyDescriptor {
    const { name, retrieve } = descriptor;
    if (!retrieve) return descriptor;
    return {
      ...descriptor,
      retrieve: async (correlate, context) => {
        const start = this.#clock.monotonic();
        try {
          return await retrieve(correlate, context);
        } finally {
          this.#observer.called(name, 'Retrieve', this.#clock.monotonic() - start);
        }
      },
    };
  }
}
