/** Replies of the REST server: one form for routes and for errors of the server itself. */
import { Readable } from 'node:stream';
import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify';
import { isPlainJson } from './json-shape.ts';
import { BadRequestError, failure, failureOf, type RouteResponse } from './route.ts';

/** After which a request that met a busy server may come again. */
const RETRY_SECONDS = 1;

/** A reply is never a page with scripts, whatever text of the cluster is in it. */
const defaultHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
} as const;

export function send(reply: FastifyReply, response: RouteResponse): FastifyReply {
  reply.code(response.status).headers({
    ...defaultHeaders,
    ...(response.status === 503 && { 'Retry-After': RETRY_SECONDS }),
    ...response.headers,
  });
  // fastify would read it to its end, after the reply and without a place among the handled requests
  if (reply.request.method === 'HEAD' && response.body instanceof Readable) response.body.destroy();
  if (response.contentType !== undefined)
    return reply.type(response.contentType).send(response.body);
  // Indented, as in the Go agent, for reading in a terminal.
  return reply
    .type('application/json; charset=utf-8')
    .send(`${JSON.stringify(response.body ?? null, undefined, 2)}\n`);
}

/** For errors before there is a route: a path that is not valid, or has a segment over the limit. */
export function refuseUrl(error: FastifyError, _request: unknown, reply: FastifyReply): void {
  void send(reply, failure(error.statusCode ?? 400, error.message));
}

/** Gives errors of the server the form of the routes' errors, and allows an empty body. */
export function unifyErrorReplies(server: FastifyInstance): void {
  const parse = server.getDefaultJsonParser('error', 'error');
  const parsePlain: typeof parse = (request, body, done) => {
    if (isPlainJson(body as string)) return parse(request, body, done);
    return done(new BadRequestError('the body has too many or too deep objects and lists'));
  };
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) =>
    body === '' ? done(null, undefined) : parsePlain(request, body as string, done),
  );
  server.setNotFoundHandler((request, reply) =>
    send(reply, failure(404, `no route ${request.method} ${request.url.split('?')[0]}`)),
  );
  server.setErrorHandler((error: FastifyError, _request, reply) => {
    const { statusCode, message } = error;
    if (statusCode === undefined) return send(reply, failureOf(error));
    const text = statusCode === 415 ? 'a body has to be of type application/json' : message;
    return send(reply, failure(statusCode, text));
  });
}
