/** Requests to the REST servers of nodes. */
import { type IncomingMessage, request as plainRequest, type RequestOptions } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { TSchema } from 'typebox';
import type { DocumentOf } from '#documents/document.ts';
import type { Clock, Timer } from '#infra/clock/clock.ts';
import type { ClusterNode } from '../command.ts';
import { agentDocument } from './agent-document.ts';
import type { Credentials } from './credentials.ts';
import { failure, failureOfError, failureOfStatus, NOT_OF_AGENT } from './failure-reason.ts';
import type { TlsOptions } from './http-options.ts';
import { RequestError } from './request-failure.ts';

const UNAUTHORIZED = 401;
/** Of a reply that is a failure: more than its text that is shown. */
const MAX_FAILURE_BYTES = 65_536;
/** A node that is down drops packets: no reason to wait as long as for a reply. */
const CONNECT_SHARE = 0.5;

export interface ClientOptions {
  readonly port: number;
  readonly isHttps: boolean;
  readonly tls: TlsOptions;
  readonly credentials: Pick<Credentials, 'header' | 'accepts'>;
  /** Without a reply, or without further bytes of it. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface NodeRequest {
  readonly method: 'GET' | 'POST';
  /** Without a slash at the beginning. */
  readonly path: string;
  readonly body?: string;
  readonly accept?: string;
  /** Statuses besides those of success whose body is a reply, too. */
  readonly repliesWith?: readonly number[] | undefined;
  /** How long the reply may be silent, when it is not as long as all others. */
  readonly silenceMs?: number;
  /** A longer reply is a failure. */
  readonly maxBytes?: number;
  /** Without credentials: the body has them. */
  readonly isLogin?: boolean;
}

export class NodeClient {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** @throws RequestError */
  async text(node: ClusterNode, request: NodeRequest): Promise<string> {
    const pieces: Uint8Array[] = [];
    for await (const piece of this.read(node, request)) pieces.push(piece);
    return Buffer.concat(pieces).toString();
  }

  /** @throws RequestError */
  async json<S extends TSchema>(
    node: ClusterNode,
    request: NodeRequest,
    schema: S,
  ): Promise<DocumentOf<S>> {
    const document = agentDocument(schema, this.#parsed(node, await this.text(node, request)));
    if (document !== undefined) return document;
    const why = failure('invalid-reply', NOT_OF_AGENT);
    throw new RequestError(why, { where: this.#where(node) });
  }

  #parsed(node: ClusterNode, text: string): unknown {
    try {
      return JSON.parse(text);
    } catch (cause) {
      const why = failure('invalid-reply', 'the reply is not JSON');
      throw new RequestError(why, { where: this.#where(node), cause });
    }
  }

  /** The body, piece by piece. @throws RequestError */
  async *read(node: ClusterNode, request: NodeRequest): AsyncGenerator<Uint8Array, void, void> {
    const { credentials } = this.#options;
    // The socket needs none, and a login sends them in its body.
    const isAnonymous = node.socket !== undefined || request.isLogin;
    const header = () => (isAnonymous ? undefined : credentials.header(node));
    try {
      yield* this.#attempt(node, request, await header());
    } catch (thrown) {
      if (isAnonymous || !(thrown instanceof RequestError)) throw thrown;
      const { status, challenge = '' } = thrown.failure;
      const login = (body: string): Promise<string> =>
        this.text(node, { method: 'POST', path: 'auth/login', body, isLogin: true });
      if (status !== UNAUTHORIZED || !(await credentials.accepts(node, challenge, login)))
        throw thrown;
      yield* this.#attempt(node, request, await header());
    }
  }

  async *#attempt(
    node: ClusterNode,
    request: NodeRequest,
    authorization: string | undefined,
  ): AsyncGenerator<Uint8Array, void, void> {
    const { clock, timeoutMs, signal } = this.#options;
    const { silenceMs = timeoutMs, maxBytes = Number.POSITIVE_INFINITY } = request;
    const where = this.#where(node);
    const silence = new AbortController();
    const limit = (what: 'answer' | 'connection', ms: number): Timer =>
      clock.timer(ms, () => {
        const late = failure('timeout', `no ${what} within ${ms / 1000} s`);
        silence.abort(new RequestError(late, { where }));
      });
    let timer = limit('connection', timeoutMs * CONNECT_SHARE);
    const onConnected = (): void => {
      timer.cancel();
      timer = limit('answer', timeoutMs);
    };
    try {
      const either = AbortSignal.any([signal, silence.signal]);
      const reply = await this.#send(node, request, authorization, either, onConnected);
      const { statusCode: status = 0, headers } = reply;
      const isReply = (status >= 200 && status <= 299) || request.repliesWith?.includes(status);
      if (!isReply) {
        const why = failureOfStatus(status, await beginOf(reply));
        throw new RequestError({ ...why, challenge: headers['www-authenticate'] }, { where });
      }
      let bytes = 0;
      for await (const piece of reply as AsyncIterable<Uint8Array>) {
        timer.cancel();
        bytes += piece.length;
        if (bytes > maxBytes) {
          const long = failure('invalid-reply', `the reply has more than ${maxBytes} bytes`);
          throw new RequestError(long, { where });
        }
        yield piece;
        timer = limit('answer', silenceMs);
      }
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      if (silence.signal.aborted) throw silence.signal.reason;
      if (thrown instanceof RequestError) throw thrown;
      const why = failureOfError(thrown, node.socket !== undefined);
      throw new RequestError(why, { where, cause: thrown });
    } finally {
      timer.cancel();
      // The reader may have stopped before the end.
      silence.abort();
    }
  }

  async #send(
    node: ClusterNode,
    { method, path, body, accept = 'application/json' }: NodeRequest,
    authorization: string | undefined,
    signal: AbortSignal,
    onConnected: () => void,
  ): Promise<IncomingMessage> {
    const { port, isHttps, tls } = this.#options;
    const { socket, host } = node;
    if (socket === undefined && host === undefined)
      throw new RequestError(failure('no-address', 'no known address'), { where: node.name });
    const options: RequestOptions = {
      method,
      path: `/${path}`,
      signal,
      agent: false,
      headers: {
        accept,
        ...(socket !== undefined && { host: 'agent' }),
        ...(authorization !== undefined && { authorization }),
        ...(body !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        }),
      },
      ...(socket !== undefined ? { socketPath: socket } : { host, port: node.port ?? port }),
    };
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const sent =
      isHttps && socket === undefined
        ? tlsRequest({ ...options, ...tls }, resolve)
        : plainRequest(options, resolve);
    sent.on('socket', (its) => its.once('connect', onConnected));
    sent.on('error', reject);
    sent.end(body);
    return await promise;
  }

  #where({ name, host = '', port, socket }: ClusterNode): string {
    if (socket !== undefined) return socket === name ? name : `${name} (${socket})`;
    const address = host.includes(':') ? `[${host}]` : host;
    const at = `${address}:${port ?? this.#options.port}`;
    return name === host || name === at ? at : `${name} (${at})`;
  }
}

async function beginOf(reply: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of reply) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= MAX_FAILURE_BYTES) break;
  }
  return Buffer.concat(pieces).toString();
}
