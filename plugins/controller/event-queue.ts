import {
  ClosedControllerError,
  EventLoopIsAbortingError,
  EventQueueFullError,
} from './api/errors.ts';
import type { Event } from './api/event.ts';

/** An event in the queue, with the data of the queue about it. */
export interface QueuedEvent {
  readonly event: Event;
  /** Of a follow-up: sequence number of the event whose handler sent it; otherwise undefined. */
  readonly followUpTo: number | undefined;
  /** When it was pushed, on the monotonic clock. */
  readonly pushed: number;
  /** The waiting producer. */
  readonly producer:
    | {
        readonly resolve: (replies: unknown[]) => void;
        readonly reject: (error: Error) => void;
      }
    | undefined;
}

/** Maximum number of queued events, and of queued follow-ups. */
export const QUEUE_CAPACITY = 1000;

/**
 * Queued events. Follow-ups have a queue of their own and always run first, so that no unrelated
 * event runs between an event and its follow-ups.
 */
export class EventQueue {
  readonly #events: QueuedEvent[] = [];
  readonly #followUps: QueuedEvent[] = [];
  #closedError: Error | undefined;
  #wake: (() => void) | undefined;
  /** Producers that wait until the queue is shorter. */
  readonly #waiting = new Set<{ readonly length: number; readonly resolve: () => void }>();

  get length(): number {
    return this.#events.length + this.#followUps.length;
  }

  /**
   * Never waits.
   * @param always whether to add it even if the queue is full
   * @throws EventQueueFullError, ClosedControllerError, EventLoopIsAbortingError
   */
  add(entry: QueuedEvent, always = false): void {
    if (this.#closedError) throw this.#closedError;
    const queue = entry.followUpTo === undefined ? this.#events : this.#followUps;
    if (queue.length >= QUEUE_CAPACITY && !always)
      throw new EventQueueFullError('queue with events is full', {
        where: entry.event.kind.name(entry.event.payload),
      });
    queue.push(entry);
    this.#wake?.();
  }

  /**
   * Removes the next event that is allowed to run now; the others keep their place.
   * @param allowed before the startup resync, only some events are
   */
  take(allowed: (event: Event) => boolean): QueuedEvent | undefined {
    for (const queue of [this.#followUps, this.#events]) {
      const index = queue.findIndex((entry) => allowed(entry.event));
      if (index < 0) continue;
      const [taken] = index === 0 ? [queue.shift()] : queue.splice(index, 1);
      this.#shortened();
      return taken;
    }
    return undefined;
  }

  /** Resolves when fewer events than this are queued, or none is accepted any more. */
  whenShorterThan(length: number): Promise<void> {
    if (this.length < length || this.#closedError) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.add({ length, resolve });
    });
  }

  #shortened(): void {
    for (const one of this.#waiting)
      if (this.length < one.length || this.#closedError) {
        this.#waiting.delete(one);
        one.resolve();
      }
  }

  /** Removes the events for which a producer waits, as far as they are refused, and rejects them. */
  reject(refused: (event: Event) => boolean, error: Error): void {
    for (const { event, producer } of [...this.#events])
      if (producer && refused(event)) {
        this.#events.splice(
          this.#events.findIndex((entry) => entry.producer === producer),
          1,
        );
        producer.reject(error);
      }
    this.#shortened();
  }

  /** Removes the events without a waiting producer that a later event replaces. */
  drop(isReplaced: (event: Event) => boolean): void {
    if (this.#closedError) return;
    const kept = this.#events.filter(({ event, producer }) => producer || !isReplaced(event));
    if (kept.length < this.#events.length) this.#events.splice(0, this.#events.length, ...kept);
    this.#shortened();
  }

  /** Removes the follow-ups that an event replaces which runs before them. */
  dropFollowUps(isReplaced: (event: Event) => boolean): void {
    const kept = this.#followUps.filter(({ event }) => !isReplaced(event));
    if (kept.length < this.#followUps.length)
      this.#followUps.splice(0, this.#followUps.length, ...kept);
  }

  /** Resolves when an event was added or the queue was closed. */
  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }

  /** Rejects all queued and all further events. */
  close(): void {
    this.#rejectAll(new ClosedControllerError('controller was closed'));
  }

  /** As `close`, except for one last event. */
  closeWith(last: QueuedEvent): void {
    this.close();
    this.#events.push(last);
  }

  /** As `close`, after a fatal error. */
  abort(): void {
    this.#rejectAll(new EventLoopIsAbortingError('event loop is aborting after a fatal error'));
  }

  #rejectAll(error: Error): void {
    this.#closedError = error;
    const waiting = [...this.#followUps.splice(0), ...this.#events.splice(0)];
    for (const { producer } of waiting) producer?.reject(error);
    this.#shortened();
    this.#wake?.();
  }
}
