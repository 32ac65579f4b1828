import type { Clock } from '#infra/clock/clock.ts';
import type { AnyDescriptor } from './api.ts';
import type { DescriptorMethod, Observer } from './observer.ts';

/** Calls of descriptors, counted and timed. */
export class CallWatch {
  readonly #clock: Clock;
  readonly #observer: Observer;
  #inFlight = 0;

  constructor(clock: Clock, observer: Observer) {
    this.#clock = clock;
    this.#observer = observer;
  }

  /** Creates, updates and deletes that have not been answered yet. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** The same descriptor, watched. */
  watch(descriptor: AnyDescriptor): AnyDescriptor {
    const { name, create, update, delete: remove, retrieve } = descriptor;
    return {
      ...descriptor,
      ...(create && { create: this.#watched(name, 'Create', create) }),
      ...(update && { update: this.#watched(name, 'Update', update) }),
      ...(remove && { delete: this.#watched(name, 'Delete', remove) }),
      ...(retrieve && { retrieve: this.#watched(name, 'Retrieve', retrieve) }),
    };
  }

  #watched<A extends unknown[], R>(
    name: string,
    method: DescriptorMethod,
    call: (...args: A) => Promise<R>,
  ): (...args: A) => Promise<R> {
    const operations = method === 'Retrieve' ? 0 : 1;
    return async (...args) => {
      const start = this.#clock.monotonic();
      this.#inFlight += operations;
      try {
        return await call(...args);
      } finally {
        this.#inFlight -= operations;
        this.#observer.called(name, method, this.#clock.monotonic() - start);
      }
    };
  }
}
