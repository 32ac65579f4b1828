/**
 * Interface of the VPP client: typed requests, dumps and events over one connection.
 *
 * Fields: names are VPP's own (snake_case, as in the .api files); enums are numbers, named in
 * enums.gen.ts; u64 and i64 are bigint; addresses and other u8 arrays are Uint8Array (addresses.ts
 * converts them from text); `string` is text. Count fields of arrays are omitted: the length of the
 * array is used. An empty array in place of a fixed-length array means all zero. The address union
 * is plain bytes, 4 or 16 when given, 16 when read; any other union is an object with the one member
 * that is used.
 */
import { defineError } from '#infra/errors/errors.ts';
import type { Dumps, EventsByName, Requests } from './messages.gen.ts';

/**
 * Carries bytes to and from one VPP. One instance per connection; the client handles framing.
 * Implemented by the unix socket and by an in-memory pair.
 */
export interface Transport {
  /** False when the buffer is full: wait for `onDrain`. */
  write(bytes: Uint8Array): boolean;
  /** Whether written bytes are still in use: then they must not be changed. */
  readonly isWriting: boolean;
  close(): void;
  /** The bytes are valid during the call only. */
  onData: (bytes: Uint8Array) => void;
  onDrain: () => void;
  /** Called once; with an error unless this side closed. */
  onClose: (error: Error | undefined) => void;
}

/** Opens a connection; rejects if the socket is not served. */
export type Connect = () => Promise<Transport>;

export type ConnectionState = 'disconnected' | 'connecting' | 'connected' | 'closed';

/** Sees the requests of a client; their answers are not its concern. */
export interface CallObserver {
  sent(message: string): void;
  done(message: string, seconds: number): void;
  failed(message: string, error: unknown): void;
  /** @param message of the answer */
  replied(message: string, count: number): void;
}

/**
 * A client of one VPP. All requests reject with VppDisconnectedError while VPP is disconnected, and
 * when the connection is lost before the answer.
 */
export interface VppClient {
  readonly state: ConnectionState;
  /** Number of successful connects; a changed number may mean that VPP was restarted. */
  readonly generation: number;
  /** Called after every connect (listeners then renew their subscriptions) and every disconnect. */
  onStateChange(listener: (state: ConnectionState) => void): () => void;
  /**
   * One request, one reply. Fields with a default in the definition may be omitted. Requests beyond
   * the window wait in a queue; requests of one event-loop turn are sent in one write.
   * @throws VppRefusedError when `retval` is not 0; InvalidMessageError before anything is sent, or
   *   when the reply cannot be decoded; UnsupportedMessageError when this VPP lacks the message;
   *   VppTimeoutError when the outcome is unknown and the connection was dropped;
   *   VppCommandTimeoutError when a CLI command lasts too long, and the connection stays
   */
  request<N extends keyof Requests>(
    name: N,
    fields: Requests[N]['request'],
  ): Promise<Requests[N]['reply']>;
  /**
   * All details of a dump or of a cursor-style `_get` stream.
   * @throws as `request`
   */
  dump<N extends keyof Dumps>(
    name: N,
    fields: Dumps[N]['request'],
  ): Promise<readonly Dumps[N]['details'][]>;
  /**
   * As `dump`, but gives each details to `take` when it arrives and keeps none of them: for thousands
   * of objects. `take` runs between two reads of the socket, so it must be short.
   * @throws as `request`, or what `take` throws; the connection is not affected. Details that arrived
   *   before an error were taken
   */
  dumpEach<N extends keyof Dumps>(
    name: N,
    fields: Dumps[N]['request'],
    take: (details: Dumps[N]['details']) => void,
  ): Promise<void>;
  /** Calls the listener for each such event; the caller sends the subscription request. */
  onEvent<N extends keyof EventsByName>(
    name: N,
    listener: (event: EventsByName[N]) => void,
  ): () => void;
  /**
   * Whether the connected VPP supports the request and its answers with the bundled CRCs.
   * @throws VppDisconnectedError without a connection: what VPP supports, and so what it has, is unknown
   */
  has(name: string): boolean;
}

export const VppDisconnectedError = defineError({
  name: 'VppDisconnectedError',
  code: 'CV_VPP_GONE',
  outcome: 'unknown',
  unavailable: 'southbound',
  remedy: 'Check that VPP runs and serves its API socket. The agent reconnects automatically.',
});

export const VppTimeoutError = defineError({
  name: 'VppTimeoutError',
  code: 'CV_VPP_TIMEOUT',
  outcome: 'unknown',
  unavailable: 'southbound',
  remedy:
    'The outcome is unknown, so the agent reconnects and resyncs. Check the load of VPP; ' +
    'in VETH mode see docs/networking.md.',
});

export const VppCommandTimeoutError = defineError({
  name: 'VppCommandTimeoutError',
  code: 'CV_VPP_COMMAND_TIMEOUT',
  outcome: 'unknown',
  remedy: 'Repeat the request when VPP has less to do, or run the command with vppctl.',
});

export const InvalidMessageError = defineError({
  name: 'InvalidMessageError',
  code: 'CV_VPP_INVALID_MESSAGE',
  remedy: 'The message was neither sent nor applied. Report the text: it names message and field.',
});

export const UnsupportedMessageError = defineError({
  name: 'UnsupportedMessageError',
  code: 'CV_VPP_UNSUPPORTED_MESSAGE',
  remedy: 'Enable the VPP plugin that provides the message, or use a supported VPP release.',
});
