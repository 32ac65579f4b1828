import type { Clock, Random } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import type { Event, NonBlockingEvent } from './event.ts';
import type { ResyncTransaction, UpdateTransaction } from './transaction.ts';

/** Kubernetes state: resource keyword, then key without the reflector's prefix, then value. */
export type KubeState = ReadonlyMap<string, ReadonlyMap<string, Value>>;

/** What a handler is given for one event. It is revoked when the event is over. */
interface HandlerContext {
  readonly event: Event;
  readonly kubeState: KubeState;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Aborted when the hard time limit has passed: whoever wakes up after that must not write. */
  readonly signal: AbortSignal;
  /** Sends an event that overtakes all that is queued. Blocking events would deadlock: see type. */
  followUp(event: NonBlockingEvent): void;
  /**
   * Asks a port (the datastore, the host, VPP's counters …). A recording keeps the answer under the
   * question, so that the run can be replayed without the port.
   * @param question stable name, for example `datastore/put allocatedIDs/1`
   * @param port asked once; what it resolves to must be JSON data
   */
  callPort<T>(question: string, port: () => Promise<T> | T): Promise<T>;
}

export interface ResyncContext extends HandlerContext {
  readonly txn: ResyncTransaction;
  /** 1 for the startup resync, higher at run time; counts every kind of resync. */
  readonly resyncCount: number;
}

export interface UpdateContext extends HandlerContext {
  readonly txn: UpdateTransaction;
  /** Replies of the handlers before this one, in their order. */
  readonly replies: readonly unknown[];
}

export type RevertContext = Omit<HandlerContext, 'followUp'>;

export interface UpdateResult {
  /** What had to change, for humans: goes into the transaction's description and the history. */
  readonly change?: string | undefined;
  /** Answer to the producer of a blocking event. */
  readonly reply?: unknown;
}

export interface EventHandler {
  /** Identifies the handler in logs and records. */
  readonly name: string;
  /** Whoever configures anything must take every resync, or its configuration is removed. */
  handlesEvent(event: Event): boolean;
  resync(ctx: ResyncContext): Promise<void> | void;
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler with nothing to say returns nothing
  update(ctx: UpdateContext): Promise<UpdateResult | void> | UpdateResult | void;
  /** Undoes the handler's own state after a RevertOnFailure event failed (not VPP, not Linux). */
  revert(ctx: RevertContext): Promise<void> | void;
  /** A text that is equal exactly when the internal state is equal; used by verification. */
  describeInternalData?(): string;
}

/** The producer's side of the loop. */
export interface EventLoop {
  /**
   * Adds an event to the queue without waiting.
   * @throws EventQueueFullError, ClosedControllerError, EventLoopIsAbortingError
   */
  push(event: Event): void;
  /**
   * Adds a blocking event and waits for its end; resolves to the replies in handler order.
   * When the signal is aborted before the event's turn, the event is not run and the call rejects.
   */
  pushAndWait<P, R>(event: Event<P, R>, signal?: AbortSignal): Promise<R[]>;
}
