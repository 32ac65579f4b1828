/**
 * The REST server: two fastify servers with the same routes, one on the endpoint for probes,
 * Prometheus and netctl, one on a unix socket for mutating routes.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { defineError, errorText } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';
import { type HttpConfig, parseEndpoint } from './config.ts';
import { HttpListenError, listenLocally } from './local-socket.ts';
import { BadRequestError, failure, type Route, type RouteResponse } from './route.ts';

export const HttpConfigError = defineError({
  name: 'HttpConfigError',
  code: 'CV_HTTP_CONFIG',
  rejects: 'configuration',
  remedy: 'Correct http.conf or the flag --http-port.',
});

export interface HttpServer {
  /** Port of the endpoint, also when the system has selected it; 0 when the server is disabled. */
  readonly port: number;
  close(): Promise<void>;
}

const serverOptions = {
  // A probe that keeps its connection open must not delay the stop of the agent.
  forceCloseConnections: true,
  // A request that never ends must not occupy a connection.
  requestTimeout: 30_000,
} as const;

/** @throws HttpConfigError, HttpListenError */
export async function startHttpServer(
  config: HttpConfig,
  routes: readonly Route[],
  log: Logger,
): Promise<HttpServer> {
  if (config.disabled) return { port: 0, close: async () => undefined };
  const open = config['open-mutating-routes'];
  if (open && config['client-basic-auth'].length === 0)
    throw new HttpConfigError('open-mutating-routes requires client-basic-auth');
  const where = parseEndpoint(config.endpoint);
  if (!where) throw new HttpConfigError(`endpoint "${config.endpoint}" has to be address:port`);
  const endpoint = makeServer(config, log);
  for (const route of routes)
    bind(endpoint, open || !route.mutating ? route : forbidden(route, config['local-socket']));
  refuseOtherMethods(endpoint, routes);
  try {
    await endpoint.listen(where);
  } catch (cause) {
    throw new HttpListenError(errorText(cause), { where: config.endpoint, cause });
  }
  const local = fastify(serverOptions);
  unifyErrorReplies(local);
  for (const route of routes) bind(local, route);
  refuseOtherMethods(local, routes);
  let closeLocal: () => Promise<void>;
  try {
    closeLocal = await listenLocally(local, config['local-socket'], log);
  } catch (error) {
    await endpoint.close();
    throw error;
  }
  const address = endpoint.server.address();
  return {
    port: typeof address === 'object' && address ? address.port : where.port,
    close: async () => {
      await Promise.all([endpoint.close(), closeLocal()]);
    },
  };
}

/** Certificate and key for HTTPS; undefined when they are not configured. */
function certificate(config: HttpConfig): { cert: Buffer; key: Buffer } | undefined {
  const cert = config['server-cert-file'];
  const key = config['server-key-file'];
  if (!cert && !key) return undefined;
  // With only one of them the server would silently serve plain HTTP.
  if (!cert || !key)
    throw new HttpConfigError('server-cert-file and server-key-file must both be set');
  const read = (path: string): Buffer => {
    try {
      return readFileSync(path);
    } catch (cause) {
      throw new HttpConfigError('cannot be read', { where: path, cause });
    }
  };
  return { cert: read(cert), key: read(key) };
}

function makeServer(config: HttpConfig, log: Logger): FastifyInstance {
  const https = certificate(config);
  let server: FastifyInstance;
  try {
    server = https
      ? (fastify({ ...serverOptions, https }) as unknown as FastifyInstance)
      : fastify(serverOptions);
  } catch (cause) {
    const where = config['server-cert-file'];
    throw new HttpConfigError(`invalid certificate or key: ${errorText(cause)}`, { where, cause });
  }
  const users = config['client-basic-auth'].map(digest);
  if (users.length > 0)
    server.addHook('onRequest', async (request, reply) => {
      if (isKnown(request, users)) return;
      log.warn({ url: request.url, from: request.ip }, 'REST request without valid credentials');
      await reply.code(401).header('WWW-Authenticate', 'Basic').send('Unauthorized\n');
    });
  unifyErrorReplies(server);
  return server;
}

/** Gives errors of the server the form of the routes' errors, and allows an empty body. */
function unifyErrorReplies(server: FastifyInstance): void {
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

/** A hash of constant length, so that the time of a comparison does not depend on the text. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function isKnown(request: FastifyRequest, users: readonly Buffer[]): boolean {
  const [scheme, credentials = ''] = (request.headers.authorization ?? '').split(' ');
  if (scheme?.toLowerCase() !== 'basic') return false;
  const given = digest(Buffer.from(credentials, 'base64').toString());
  return users.filter((user) => timingSafeEqual(user, given)).length > 0;
}

/** Replaces a route that only the local socket serves. */
function forbidden(route: Route, socket: string): Route {
  const text = `this route changes state: use the unix socket ${socket}`;
  return { ...route, handle: () => failure(403, text) };
}

function bind(server: FastifyInstance, route: Route): void {
  server.route({
    method: route.method,
    url: route.path,
    handler: async (request, reply) => {
      const response = await answer(route, request);
      return send(reply, response);
    },
  });
}

/** Every other method on the path of a route is answered with the methods that the path has. */
function refuseOtherMethods(server: FastifyInstance, routes: readonly Route[]): void {
  for (const path of new Set(routes.map((route) => route.path))) {
    const known = server.supportedMethods.filter((method) =>
      server.hasRoute({ method, url: path }),
    );
    const allowed = known.sort().join(', ');
    server.route({
      method: server.supportedMethods.filter((method) => !known.includes(method)),
      url: path,
      // Before the body is read: its form does not matter.
      onRequest: async ({ method }, reply) =>
        send(
          reply.header('Allow', allowed),
          failure(405, `${path} has no method ${method}, only ${allowed}`),
        ),
      handler: async () => undefined,
    });
  }
}

async function answer(route: Route, request: FastifyRequest): Promise<RouteResponse> {
  const query: Record<string, string[]> = Object.create(null);
  const params = request.params as Record<string, string>;
  try {
    for (const [name, value] of new URL(request.url, 'http://agent').searchParams)
      query[name] = [...(query[name] ?? []), value];
    return await route.handle({ query, params, body: request.body });
  } catch (error) {
    return failure(error instanceof BadRequestError ? 400 : 500, errorText(error));
  }
}

function send(reply: FastifyReply, response: RouteResponse): FastifyReply {
  reply.code(response.status);
  if (response.contentType !== undefined)
    return reply.type(response.contentType).send(response.body);
  // Indented, as in the Go agent, for reading in a terminal.
  return reply
    .type('application/json; charset=utf-8')
    .send(`${JSON.stringify(response.body ?? null, undefined, 2)}\n`);
}
