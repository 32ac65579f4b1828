/** Serves contiv-cni: one call per connection, on connections that were accepted by the caller. */
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import type { Clock, Timer } from '#infra/clock/clock.ts';
import type { ConnectionServer } from '#infra/grpc/connection-server.ts';
import type { Logger } from '#infra/log/log.ts';
import type { CniService } from '../cni-service.ts';
import type { PluginEnd, RunPlugin } from './ipam-plugin.ts';
import {
  type CallBody,
  decodeCall,
  decodeEnded,
  encodePlugin,
  encodeResult,
  kinds,
  type Message,
  MessageReader,
  ProtocolError,
} from './messages.ts';
import { answerCall } from './runtime-call.ts';

/** How long contiv-cni may take to send its call, which it has read before it connects, or to read the result. */
const TRANSFER_LIMIT_MS = 10_000;

/** More than contiv-cni gives the whole call. */
const PLUGIN_LIMIT_MS = 120_000;

export interface CallServerDeps {
  readonly service: CniService;
  readonly clock: Clock;
  readonly log: Logger;
}

export function callServer(deps: CallServerDeps): ConnectionServer {
  const calls = new Map<Duplex, CallConnection>();
  return {
    take: (connection) => {
      calls.set(connection, new CallConnection(deps, connection));
      connection.once('close', () => calls.delete(connection));
    },
    close: async () => {
      for (const [connection, { isCalled }] of calls) if (!isCalled) connection.destroy();
      await Promise.all([...calls.keys()].map((connection) => once(connection, 'close')));
    },
    abandon: () => {
      for (const connection of calls.keys()) connection.destroy();
    },
  };
}

class CallConnection {
  readonly #deps: CallServerDeps;
  readonly #connection: Duplex;
  readonly #reader = new MessageReader();
  readonly #gone = new AbortController();
  /** Ends the wait for the client. */
  #timer: Timer;
  #plugin: PromiseWithResolvers<PluginEnd> | undefined;
  isCalled = false;

  constructor(deps: CallServerDeps, connection: Duplex) {
    this.#deps = deps;
    this.#connection = connection;
    this.#timer = this.#limit(TRANSFER_LIMIT_MS);
    connection.on('error', () => undefined);
    connection.on('data', (piece) => this.#read(piece));
    connection.once('close', () => {
      this.#timer.cancel();
      const reason = new Error('the caller has disconnected');
      this.#gone.abort(reason);
      this.#plugin?.reject(reason);
    });
  }

  #limit(ms: number): Timer {
    return this.#deps.clock.timer(ms, () => this.#connection.destroy());
  }

  #read(piece: Buffer): void {
    try {
      for (const message of this.#reader.add(piece)) this.#take(message);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#deps.log.warn(
        { err: error },
        'CNI call is invalid; the contiv-cni may be of another version',
      );
      this.#connection.destroy();
    }
  }

  /** @throws ProtocolError */
  #take({ kind, body }: Message): void {
    const plugin = this.#plugin;
    if (kind === kinds.call && !this.isCalled) {
      this.isCalled = true;
      this.#timer.cancel();
      void this.#answer(decodeCall(body));
    } else if (kind === kinds.ended && plugin) {
      this.#plugin = undefined;
      this.#timer.cancel();
      plugin.resolve(decodeEnded(body));
    } else throw new ProtocolError(`an unexpected message ${JSON.stringify(kind)}`);
  }

  async #answer(call: CallBody): Promise<void> {
    const { service, log } = this.#deps;
    const { output, failure } = await answerCall(service, {
      ...call,
      runPlugin: this.#runPlugin,
      signal: this.#gone.signal,
      log,
    });
    if (this.#gone.signal.aborted) return;
    const fields = failure
      ? { code: failure.code, msg: failure.message, details: failure.details || undefined }
      : {};
    this.#timer = this.#limit(TRANSFER_LIMIT_MS);
    this.#connection.end(encodeResult(failure ? 1 : 0, fields, output), () =>
      this.#connection.destroy(),
    );
  }

  /** One after the other: a call needs no more. */
  readonly #runPlugin: RunPlugin = (name, command, input) => {
    this.#gone.signal.throwIfAborted();
    this.#plugin = Promise.withResolvers();
    this.#timer = this.#limit(PLUGIN_LIMIT_MS);
    this.#connection.write(encodePlugin(name, command, input));
    return this.#plugin.promise;
  };
}
