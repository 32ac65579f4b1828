/** Replies of the REST server: one form for routes and for errors of the server itself. */
import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify';
import { failure, type RouteResponse } from './route.ts';

/** A reply is never a page with scripts, whatever text of the cluster is in it. */
const defaultHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
} as const;

export function send(reply: FastifyReply, response: RouteResponse): FastifyReply {
  reply.code(response.status).headers({ ...defaultHeaders, ...response.headers });
  if (response.contentType !== undefined)
    return reply.type(response.contentType).send(response.body);
  // Indented, as in the Go agent, for reading in a terminal.
  return reply
    .type('application/json; charset=utf-8')
    .send(`${JSON.stringify(response.body ?? null, undefined, 2)}\n`);
}

/** Gives errors of the server the form of the routes' errors, and allows an empty body. */
export function unifyErrorReplies(server: FastifyInstance): void {
  const parse = server.getDefaultJsonParser('error', 'error');
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) =>
    body === '' ? done(null, undefined) : parse(request, body as string, done),
  );
  server.setNotFoundHandler((request, reply) =>
    send(reply, failure(404, `no route ${request.method} ${request.url.split('?')[0]}`)),
  );
  server.setErrorHandler(({ statusCode = 500, message }: FastifyError, _request, reply) => {
    const text = statusCode === 415 ? 'a body has to be of type application/json' : message;
    return send(reply, failure(statusCode, text));
  });
}
