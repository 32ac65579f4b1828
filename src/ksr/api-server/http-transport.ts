import * as http from 'node:http';
import * as https from 'node:https';
import { connectionError } from './api-errors.ts';
import type { Credentials } from './credentials.ts';
import type { ApiRequest, ApiResponse, ApiTransport } from './transport.ts';

const UNAUTHORIZED = 401;
/** A dead peer without a reset, e.g. behind a load balancer, is noticed by TCP. */
const TCP_KEEP_ALIVE_MS = 30_000;

/**
 * Requests over HTTP/1.1 with the credentials of the official client library. Its own `Watch` is not
 * used: it drops lines that are not JSON, the reason of a failure and `Retry-After`, and does not slow
 * the server down when lines arrive faster than they are handled. A response of Node.js does.
 */
export class HttpTransport implements ApiTransport {
  readonly #credentials: Credentials;
  readonly #userAgent: string;
  readonly #agents = {
    'http:': new http.Agent({ keepAlive: true, keepAliveMsecs: TCP_KEEP_ALIVE_MS }),
    'https:': new https.Agent({ keepAlive: true, keepAliveMsecs: TCP_KEEP_ALIVE_MS }),
  };

  constructor(credentials: Credentials, userAgent = 'contiv-ksr') {
    this.#credentials = credentials;
    this.#userAgent = userAgent;
  }

  async send(request: ApiRequest, signal: AbortSignal): Promise<ApiResponse> {
    const { server, options } = await this.#credentials.address(signal);
    try {
      const url = new URL(server + request.path);
      for (const [name, value] of Object.entries(request.query)) url.searchParams.set(name, value);
      const response = await this.#respond(url, request, { ...options, signal });
      const status = response.statusCode ?? 0;
      if (status === UNAUTHORIZED) this.#credentials.reload();
      return { status, retryAfter: response.headers['retry-after'], body: response };
    } catch (thrown) {
      this.#credentials.reload();
      throw connectionError(thrown, request.path);
    }
  }

  #respond(
    url: URL,
    { method, body }: ApiRequest,
    options: https.RequestOptions,
  ): Promise<http.IncomingMessage> {
    const isPlain = url.protocol === 'http:';
    const headers = {
      ...options.headers,
      Accept: 'application/json',
      'User-Agent': this.#userAgent,
      ...(body !== undefined && {
        'Content-Type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
        'Content-Length': Buffer.byteLength(body),
      }),
    };
    const agent = options.agent ?? this.#agents[isPlain ? 'http:' : 'https:'];
    return new Promise((resolve, reject) => {
      const sent = (isPlain ? http : https).request(url, { ...options, method, headers, agent });
      sent.once('response', resolve);
      // An error may follow after the response; the response reports it.
      sent.on('error', reject);
      sent.end(body);
    });
  }
}
