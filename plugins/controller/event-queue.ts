import {
  ClosedControllerError,
  EventLoopIsAbortingError,
  EventQueueFullError,
} from './api/errors.ts';
import type { Event } from './api/event.ts';

/** An event in the queue, with what belongs to the queue and not to the event. */
export interface QueuedEvent {
  readonly event: Event;
  /** Sequence number of the event whose handler sent this one; undefined for all others. */
  readonly followUpTo: number | undefined;
  /** When it was pushed, on the monotonic clock. */
  readonly pushed: number;
  /** The producer that waits, and how to tell that it has gone. */
  readonly producer:
    | {
        readonly resolve: (replies: unknown[]) => void;
        readonly reject: (error: Error) => void;
        readonly signal: AbortSignal | undefined;
      }
    | undefined;
}

/** How many events, and how many follow-ups, may wait at once. */
export const QUEUE_CAPACITY = 1000;

/**
 * Events that wait for their turn. Follow-ups have a queue of their own and always go first, so
 * that nothing unrelated runs between an event and what follows from it.
 */
export class EventQueue {
  readonly #events: QueuedEvent[] = [];
  readonly #followUps: QueuedEvent[] = [];
  #closedError: Error | undefined;
  #wake: (() => void) | undefined;

  get length(): number {
    return this.#events.length + this.#followUps.length;
  }

  /**
   * Never waits.
   * @param always whether it finds room in any case
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
   * The next event that may run now; those that may not keep their place.
   * @param allowed before the startup resync only some may
   */
  take(allowed: (event: Event) => boolean): QueuedEvent | undefined {
    for (const queue of [this.#followUps, this.#events]) {
      const index = queue.findIndex((entry) => allowed(entry.event));
      if (index === 0) return queue.shift();
      if (index > 0) return queue.splice(index, 1)[0];
    }
    return undefined;
  }

  /** Resolves when something was added or the queue was closed. */
  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }

  /** From now on nothing is accepted, and what waits is refused. */
  close(): void {
    this.#rejectAll(new ClosedControllerError('controller was closed'));
  }

  /** As `close`, but for one last event. */
  closeWith(last: QueuedEvent): void {
    this.close();
    this.#events.push(last);
  }

  /** As `close`, after a fatal error. */
  abort(): void {
    this.#rejectAll(new EventLoopIsAbortingError('event loop is aborting after a fatal error'));
  }

  #rejectAll(refusal: Error): void {
    this.#closedError = refusal;
    const waiting = [...this.#followUps.splice(0), ...this.#events.splice(0)];
    for (const { producer } of waiting) producer?.reject(refusal);
    this.#wake?.();
  }
}
