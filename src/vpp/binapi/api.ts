/**
 * VPP's binary API as the rest of the project sees it: typed requests, dumps and events over one
 * connection.
 *
 * Fields: names are VPP's own (snake_case, as in the .api files); enums are numbers, named in
 * enums.gen.ts; u64 and i64 are bigint; addresses and other u8 arrays are Uint8Array (addresses.ts
 * makes them from text); `string` is text. A field that only counts an array does not exist: the
 * array says its own length. An array of fixed length may be given empty for all zero. The address
 * union is plain bytes, 4 or 16 when given, 16 when read; another union is an object with the one
 * member that is meant.
 */
import { defineError } from '#infra/errors/errors.ts';
import type { Dumps, EventsByName, Requests } from './messages.gen.ts';

/**
 * Carries bytes to and from one VPP. Made anew for every connection; frames are the client's
 * business. The unix socket and the in-memory pair implement it.
 */
export interface Transport {
  /** False when the other side should be given time: wait for `onDrain`. */
  write(bytes: Uint8Array): boolean;
  close(): void;
  onData: (bytes: Uint8Array) => void;
  onDrain: () => void;
  /** Called once; with an error unless this side closed. */
  onClose: (error: Error | undefined) => void;
}

/** Opens a connection; rejects when nobody listens. */
export type Connect = () => Promise<Transport>;

export type ConnectionState = 'disconnected' | 'connecting' | 'connected' | 'closed';

/** What callers of VPP need. Everything rejects with VppDisconnectedError when VPP is or goes away. */
export interface VppClient {
  readonly state: ConnectionState;
  /** Counts successful connects; a number that has changed means another VPP life. */
  readonly generation: number;
  /** Called after every connect, when the listener renews its subscriptions, and every loss. */
  onStateChange(listener: (state: ConnectionState) => void): () => void;
  /**
   * One request, one reply. Fields with a default in the definition may be left out. More requests
   * than the window holds wait in a queue; those given in one turn leave in one write.
   * @throws VppRefusedError when `retval` is not 0; InvalidMessageError before anything is sent, or when
   *   the reply cannot be read; UnsupportedMessageError when this VPP lacks it; VppTimeoutError when its
   *   outcome is unknown, and the connection was dropped
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
  /** Calls the listener for each such event; the subscription itself is a request of the caller. */
  onEvent<N extends keyof EventsByName>(
    name: N,
    listener: (event: EventsByName[N]) => void,
  ): () => void;
  /** Whether the connected VPP has the request and its answers with the CRCs that we speak. */
  has(name: string): boolean;
}

export const VppDisconnectedError = defineError({
  name: 'VppDisconnectedError',
  code: 'CV_VPP_GONE',
  outcome: 'unknown',
  unavailable: 'southbound',
  remedy: 'Check that VPP runs and serves its API socket; the agent reconnects by itself.',
});

export const VppTimeoutError = defineError({
  name: 'VppTimeoutError',
  code: 'CV_VPP_TIMEOUT',
  outcome: 'unknown',
  unavailable: 'southbound',
  remedy:
    'The outcome is unknown, so the agent reconnects and resyncs; look at the load of VPP, ' +
    'and in VETH mode at docs/networking.md.',
});

export const InvalidMessageError = defineError({
  name: 'InvalidMessageError',
  code: 'CV_VPP_INVALID_MESSAGE',
  remedy: 'The text names message, field and reason; it was neither sent nor believed. Report it.',
});

export const UnsupportedMessageError = defineError({
  name: 'UnsupportedMessageError',
  code: 'CV_VPP_UNSUPPORTED_MESSAGE',
  remedy: 'This VPP lacks the message: enable the plugin that brings it, or use a listed release.',
});
