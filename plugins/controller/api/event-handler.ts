import type { Clock, Random } from '#infra/clock/clock.ts';
import type { CodedError } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import type { Event, NonBlockingEvent } from './event.ts';
import type { HandlerState } from './handler-state.ts';
import type { Journal } from './journal.ts';
import type { Transaction } from './transaction.ts';

/** Kubernetes state: resource keyword, then key without the reflector's prefix, then value. */
export type KubeState = ReadonlyMap<string, ReadonlyMap<string, Value>>;

/** Context of a handler for one event. It is revoked when the call ends. */
interface HandlerContext {
  readonly event: Event;
  readonly kubeState: KubeState;
  /** The state of Kubernetes is that of the local mirror, which may lack the last changes. */
  readonly isStateLocal: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Aborted at the hard time limit: a handler that continues after it must not write. */
  readonly signal: AbortSignal;
  /** Queues an event ahead of all other queued events. A blocking event would deadlock: see its type. */
  followUp(event: NonBlockingEvent): void;
  /**
   * Calls a port (the datastore, the host, VPP's counters …). A recording keeps the result under the
   * name of the call, so that the events can be replayed without the port.
   * @param name stable name of the call, for example `datastore/put allocatedIDs/1`
   * @param call is called once; it must resolve to JSON data
   */
  callPort<T>(name: string, call: () => Promise<T> | T): Promise<T>;
  /**
   * Lets the next handlers begin while a write or a port call of this one is under way. The event waits for it
   * before the transaction; if it fails, this handler has failed.
   */
  beforeCommit(work: Promise<unknown>): void;
}

export interface ResyncContext extends HandlerContext {
  /** For the tables of the state. */
  readonly journal: Journal;
  readonly txn: Transaction;
  /** The state of Kubernetes was read since the last resync that succeeded: by this event, or by one that was aborted. */
  readonly isStateNew: boolean;
  /** 1 for the startup resync, higher at run time; counts every kind of resync. */
  readonly resyncCount: number;
  /**
   * Called before the transaction if no handler aborts the resync: tells listeners and other nodes, and changes what is
   * kept beside the state.
   */
  onSuccess(tell: Tell): void;
}

export interface UpdateContext extends HandlerContext {
  readonly txn: Transaction;
  /** Replies of the preceding handlers, in their order. */
  readonly replies: readonly unknown[];
  /**
   * Undoes what is outside of VPP, Linux and the tables of the state, such as a record in a store, if the event is
   * reverted. What was registered last is undone first, after the tables.
   */
  onRevert(undo: Undo): void;
}

export type RevertContext = Omit<HandlerContext, 'followUp' | 'beforeCommit'>;

export type Tell = (ctx: RevertContext) => Promise<void> | void;

export type Undo = (ctx: RevertContext) => Promise<void> | void;

export interface UpdateResult {
  /** Description of the change for operators, in the transaction's description and in the history. */
  readonly change?: string | undefined;
  /** Reply to the producer of a blocking event. */
  readonly reply?: unknown;
}

/** @typeParam S state that the event loop keeps */
export interface EventHandler<S = unknown> {
  /** Identifies the handler in logs and records. */
  readonly name: string;
  /** Name of an earlier handler: this one reads what it has changed in an event, and follows it in a reverse one, too. */
  readonly follows?: string;
  /** Absent: the handler has none, and handles updates before the first resync, too. */
  readonly state?: HandlerState<S>;
  /** A handler that puts values must handle every resync, or its configuration is removed. */
  handlesEvent(event: Event): boolean;
  /**
   * Creates the state and puts all values. An error aborts the resync: a commit without the values would remove
   * them. What fails and does not change values is left to `beforeCommit`.
   * @param previous state of before; undefined at the first resync
   */
  resync(ctx: ResyncContext, previous: S | undefined): Promise<S> | S;
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler without a change or a reply returns nothing
  update(ctx: UpdateContext, state: S): Promise<UpdateResult | void> | UpdateResult | void;
  /**
   * Everything that the handler cannot do although the node is configured to, and why: invalid input for which it
   * uses the last valid one, a missing precondition. Readiness shows it. While there is a problem that
   * a retry may solve (trait `isRetriable` is not false), healing resyncs follow; other problems end
   * when their input changes.
   */
  problems?(): readonly CodedError[];
  /** A text that is equal if and only if the internal state is equal; used by verification. */
  describeInternalData?(): string;
}

/** The event loop as producers of events use it. */
export interface EventLoop {
  /**
   * Adds an event to the queue without waiting.
   * @throws EventQueueFullError, ClosedControllerError, EventLoopIsAbortingError
   */
  push(event: Event): void;
  /**
   * Adds a blocking event and waits until it is processed; resolves to the replies in handler order.
   * If the signal is aborted before processing starts, the event is not run and the call rejects.
   */
  pushAndWait<P, R>(event: Event<P, R>, signal?: AbortSignal): Promise<R[]>;
}
