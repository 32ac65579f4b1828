/**
 * The CNI service as JSON over HTTP/1.1, like unary calls of the Connect protocol:
 * `POST /cni.RemoteCNI/Add` with the request as JSON. contiv-cni uses it, because a program that
 * runs for one call starts in half the time without gRPC. It can be called from a shell:
 * `curl --unix-socket cni.sock -d '{}' http://agent/cni.CNIState/Status`. The answer to a request that
 * failed has an error status, and the reply with its `result` as body.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { CNIReply } from '#models/cni/cni.gen.ts';
import { messageCodec, type ServiceMethod } from '#models/message.ts';
import { InvalidModelError } from '#models/model.ts';
import { cniResults } from './cni-failure.ts';
import { type CniService, cniMethods } from './cni-service.ts';
import type { ConnectionServer } from './grpc-server.ts';

/** Maximum size of a request; a GC request with 10,000 pods has 1 MB. */
const MAX_REQUEST_BYTES = 8 << 20;

/** HTTP status and code of the Connect protocol, by `result`. */
const errors: ReadonlyMap<number, readonly [status: number, code: string]> = new Map([
  [cniResults.invalidRequest, [400, 'invalid_argument']],
  [cniResults.tryAgainLater, [503, 'unavailable']],
]);

/** @returns the response as JSON; rejects with InvalidModelError for an invalid request */
type JsonCall = (request: unknown, signal: AbortSignal) => Promise<object>;

function jsonCall<Request extends object, Response extends object>(
  { path, request, response }: ServiceMethod<Request, Response>,
  call: (request: Request, signal: AbortSignal) => Promise<Response>,
): [string, JsonCall] {
  const requests = messageCodec(request);
  const responses = messageCodec(response);
  return [
    path,
    async (given, signal) =>
      Object(responses.toJson(await call(requests.parse(given, path), signal))),
  ];
}

export function jsonServer(service: CniService, log: Logger): ConnectionServer {
  const calls = new Map<string, JsonCall>([
    jsonCall(cniMethods.add, service.add),
    jsonCall(cniMethods.delete, service.delete),
    jsonCall(cniMethods.check, service.check),
    jsonCall(cniMethods.gc, service.gc),
    jsonCall(cniMethods.status, service.status),
  ]);
  const server = createServer((request, response) => {
    answer(calls, request, response).catch((error) => {
      log.error({ err: error, path: request.url }, 'CNI call failed with an unexpected error');
      if (response.headersSent) response.destroy();
      else reply(response, 500, problem('internal', errorText(error)));
    });
  });
  const connections = new Set<Duplex>();
  return {
    take: (connection) => {
      connections.add(connection);
      connection.once('close', () => connections.delete(connection));
      server.emit('connection', connection);
    },
    close: async () => {
      server.closeIdleConnections();
      await Promise.all([...connections].map((connection) => once(connection, 'close')));
    },
    abandon: () => {
      for (const connection of connections) connection.destroy();
    },
  };
}

async function answer(
  calls: ReadonlyMap<string, JsonCall>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // One call per connection, so that the shutdown of the agent waits for no idle connection.
  response.setHeader('connection', 'close');
  const call = calls.get(request.url ?? '');
  if (!call || request.method !== 'POST')
    return reply(response, 404, problem('unimplemented', `POST one of ${[...calls.keys()]}`));
  if (Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY) > MAX_REQUEST_BYTES)
    return reply(
      response,
      413,
      problem('resource_exhausted', 'the request is longer than 8 MiB or has no content-length'),
    );
  let given: unknown;
  try {
    given = JSON.parse(await text(request));
  } catch (error) {
    return reply(response, 400, problem('invalid_argument', errorText(error)));
  }
  const controller = new AbortController();
  response.once('close', () => controller.abort(new Error('the caller has disconnected')));
  try {
    const answer = await call(given, controller.signal);
    const failure = failureOf(answer);
    if (failure) reply(response, failure.status, JSON.stringify({ ...failure.problem, ...answer }));
    else reply(response, 200, JSON.stringify(answer));
  } catch (error) {
    if (!(error instanceof InvalidModelError)) throw error;
    reply(response, 400, problem('invalid_argument', error.message));
  }
}

/** @returns undefined for a success */
function failureOf({ result = cniResults.success, error = '' }: Partial<CNIReply>) {
  if (result === cniResults.success) return undefined;
  const [status, code] = errors.get(result) ?? [500, 'unknown'];
  return { status, problem: { code, message: error } };
}

function problem(code: string, message: string): string {
  return JSON.stringify({ code, message });
}

function reply(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}
