/**
 * Events: something has happened and may cause a reaction. An event is data (a kind and a
 * serializable payload), so that it can be recorded and replayed; its kind defines its meaning.
 * The numbers of the enumerations appear in REST documents and are those of the Go agent.
 */

/** How handlers react to an event. */
export const EventMethod = {
  /** Recalculate everything, read the actual state from the southbound, and reconcile it. */
  FullResync: 0,
  /** Handlers are not called: the southbound is reconciled with their last result. */
  DownstreamResync: 1,
  /** Recalculate everything; the last known state of the southbound is assumed to be right. */
  UpstreamResync: 2,
  /** React by an incremental change. */
  Update: 3,
} as const;
export type EventMethod = (typeof EventMethod)[keyof typeof EventMethod];

/** How changes that were already made are treated when processing fails. */
export const TransactionType = {
  /** Keep them: as close to the desired state as possible; a healing resync follows. */
  BestEffort: 0,
  /** Keep them and do not heal. */
  BestEffortIgnoreErrors: 1,
  /** Undo them: all or nothing. */
  RevertOnFailure: 2,
} as const;
export type TransactionType = (typeof TransactionType)[keyof typeof TransactionType];

/** Order of the handlers for an update: that of registration, or its reverse. */
export const Direction = { Forward: 0, Reverse: 1 } as const;
export type Direction = (typeof Direction)[keyof typeof Direction];

/** Whether producers wait until an event is processed: all of them, none, or some (`optional`). */
export type Blocking = boolean | 'optional';

/**
 * A kind of event.
 * @typeParam P payload: plain JSON data
 * @typeParam R reply of a handler to the producer of a blocking event
 */
export interface EventKind<P = unknown, R = unknown> {
  /** Stable name for records and replay, for example `add-pod`. */
  readonly id: string;
  /** Version of the payload's shape. */
  readonly version: number;
  readonly blocking: Blocking;
  /** Short label for operators, for example `Add Pod default/web`. */
  name(payload: P): string;
  /** Description of one or more lines; the first is the headline. */
  describe(payload: P): string;
  method(payload: P): EventMethod;
  /** For updates only. */
  transactionType(payload: P): TransactionType;
  /** For updates only. */
  direction(payload: P): Direction;
  /** Never set; holds the type of the reply. */
  readonly reply?: R;
}

/** External cause of an event: a key in the datastore or a container. */
export interface EventOrigin {
  /** Key in the datastore, with its prefix. */
  readonly key?: string;
  /** Revision of the change of that key. */
  readonly revision?: string;
  /** ID of the container of the CNI call. */
  readonly container?: string;
  /** When the agent received it, in milliseconds since the epoch; default: when it was pushed. */
  readonly heard?: number;
}

export interface Event<P = unknown, R = unknown> {
  readonly kind: EventKind<P, R>;
  readonly payload: P;
  readonly origin?: EventOrigin;
}

/** An event without a waiting producer; handlers can send only such events as follow-ups. */
export interface NonBlockingEvent<P = unknown> extends Event<P, never> {
  readonly kind: EventKind<P, never> & { readonly blocking: false | 'optional' };
}

/** A kind with functions to create an event and to recognize one. */
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
  /** External cause of such an event, if the payload contains it. */
  readonly origin?: (payload: P) => EventOrigin;
}

const kinds = new Map<string, EventKind<never, unknown>>();

/** The kind with this ID, if the module that declares it is loaded; for events of a recording. */
export function eventKind(id: string): EventKind | undefined {
  return kinds.get(id) as EventKind | undefined;
}

/** Declares a kind of event, in the `api.ts` of the plugin that produces it. */
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
