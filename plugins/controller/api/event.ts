/**
 * Events: something has happened and may cause a reaction. An event is data (a kind and a
 * serializable payload), so that it can be recorded and replayed; what it means stands in its kind.
 * The numbers of the enumerations leak into REST documents and are those of the Go agent.
 */

/** How handlers are asked to react. */
export const EventMethod = {
  /** Recalculate everything, refresh the view of the southbound, repair the difference. */
  FullResync: 0,
  /** Handlers are not asked: their last result is held against the southbound once more. */
  DownstreamResync: 1,
  /** Recalculate everything, trusting the known view of the southbound. */
  UpstreamResync: 2,
  /** React by an incremental change. */
  Update: 3,
} as const;
export type EventMethod = (typeof EventMethod)[keyof typeof EventMethod];

/** What becomes of the changes already made when processing fails half-way. */
export const TransactionType = {
  /** Keep them: as close to the wish as possible; a healing resync follows. */
  BestEffort: 0,
  /** Keep them and do not heal. */
  BestEffortIgnoreErrors: 1,
  /** Undo them: all or nothing. */
  RevertOnFailure: 2,
} as const;
export type TransactionType = (typeof TransactionType)[keyof typeof TransactionType];

/** In which order the handlers see an update: that of registration, or its reverse. */
export const Direction = { Forward: 0, Reverse: 1 } as const;
export type Direction = (typeof Direction)[keyof typeof Direction];

/**
 * Whether a producer waits for the end of an event: always, never, or as the one producer does and
 * the other does not.
 */
export type Blocking = boolean | 'optional';

/**
 * A kind of event.
 * @typeParam P payload: plain JSON data
 * @typeParam R what a handler may answer to the producer of a blocking event
 */
export interface EventKind<P = unknown, R = unknown> {
  /** Stable name for records and replay, for example `add-pod`. */
  readonly id: string;
  /** Version of the payload's shape. */
  readonly version: number;
  readonly blocking: Blocking;
  /** Short label for humans, for example `Add Pod default/web`. */
  name(payload: P): string;
  /** Description of one or more lines; the first is the headline. */
  describe(payload: P): string;
  method(payload: P): EventMethod;
  /** Asked for updates only. */
  transactionType(payload: P): TransactionType;
  /** Asked for updates only. */
  direction(payload: P): Direction;
  /** Never set: carries the type of the reply. */
  readonly reply?: R;
}

/** What outside of the agent has caused an event, by the name that it has there. */
export interface EventOrigin {
  /** Key in the datastore, with its prefix. */
  readonly key?: string;
  /** Of the change of that key. */
  readonly revision?: string;
  /** ID of the container that the CNI was called for. */
  readonly container?: string;
  /** Milliseconds since the epoch at which the agent heard of it; default: when it was pushed. */
  readonly heard?: number;
}

export interface Event<P = unknown, R = unknown> {
  readonly kind: EventKind<P, R>;
  readonly payload: P;
  readonly origin?: EventOrigin;
}

/** An event nobody waits for; the only sort that a handler may send as a follow-up. */
export interface NonBlockingEvent<P = unknown> extends Event<P, never> {
  readonly kind: EventKind<P, never> & { readonly blocking: false | 'optional' };
}

/** A kind with its two everyday functions: make an event, recognize one. */
export interface DefinedKind<P, R, B extends Blocking> extends EventKind<P, R> {
  readonly blocking: B;
  event(
    payload: P,
    origin?: EventOrigin,
  ): B extends false | 'optional' ? NonBlockingEvent<P> : Event<P, R>;
  is(event: Event): event is Event<P, R>;
}

interface KindSpec<P, B extends Blocking> {
  readonly id: string;
  readonly version?: number;
  readonly blocking: B;
  readonly name: string | ((payload: P) => string);
  /** Default: the name. */
  readonly describe?: (payload: P) => string;
  readonly method: EventMethod | ((payload: P) => EventMethod);
  /** Default: best effort. */
  readonly transactionType?: TransactionType;
  /** Default: forward. */
  readonly direction?: Direction | ((payload: P) => Direction);
  /** Where such an event comes from, when the payload says it. */
  readonly origin?: (payload: P) => EventOrigin;
}

const kinds = new Map<string, EventKind<never, unknown>>();

/** The kind with this id, if the module that declares it was loaded: for events from a recording. */
export function eventKind(id: string): EventKind | undefined {
  return kinds.get(id) as EventKind | undefined;
}

/** Declares a kind of event: one call a file, next to the plugin that produces it. */
export function defineEvent<P, R = never>(spec: KindSpec<P, true>): DefinedKind<P, R, true>;
export function defineEvent<P>(spec: KindSpec<P, false>): DefinedKind<P, never, false>;
export function defineEvent<P>(spec: KindSpec<P, 'optional'>): DefinedKind<P, never, 'optional'>;
export function defineEvent<P, R>(spec: KindSpec<P, Blocking>): DefinedKind<P, R, Blocking> {
  const { name, method, direction } = spec;
  const nameOf = typeof name === 'string' ? () => name : name;
  const kind: DefinedKind<P, R, Blocking> = {
    id: spec.id,
    version: spec.version ?? 1,
    blocking: spec.blocking,
    name: nameOf,
    describe: spec.describe ?? nameOf,
    method: typeof method === 'function' ? method : () => method,
    transactionType: () => spec.transactionType ?? TransactionType.BestEffort,
    direction: typeof direction === 'function' ? direction : () => direction ?? Direction.Forward,
    event: (payload, origin = spec.origin?.(payload)) =>
      ({ kind, payload, ...(origin && { origin }) }) as unknown as NonBlockingEvent<P>,
    is: (event): event is Event<P, R> => event.kind.id === spec.id,
  };
  kinds.set(spec.id, kind);
  return kind;
}
