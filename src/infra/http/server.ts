/**
 * The REST server: fastify twice over the same routes, once on the endpoint that probes, Prometheus
 * and netctl use, once on a unix socket for what changes something.
 */
import { timingSafeEqual } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { defineError, errorText } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';
import type { HttpConfig } from './config.ts';
import { ErrBadRequest, failure, type Route, type RouteResponse } from './route.ts';

export const ErrHttpConfig = defineError({
  name: 'ErrHttpConfig',
  code: 'CV_HTTP_CONFIG',
  remedy: 'Correct http.conf or the flag --http-port.',
});

export interface HttpServer {
  /** Port that the endpoint got (differs from the wanted one when that was 0); 0 when disabled. */
  readonly port: number;
  close(): Promise<void>;
}

export async function startHttpServer(
  config: HttpConfig,
  routes: readonly Route[],
  log: Logger,
): Promise<HttpServer> {
  if (config.disabled) return { port: 0, close: async () => undefined };
  if (config['open-mutating-routes'] && config['client-basic-auth'].length === 0)
    throw new ErrHttpConfig('open-mutating-routes needs client-basic-auth');
  const { host, port } = parseEndpoint(config.endpoint);
  const open = config['open-mutating-routes'];
  const endpoint = makeServer(config, log);
  for (const route of routes)
    bind(endpoint, open || !route.mutating ? route : closed(route, config['local-socket']));
  await endpoint.listen({ host, port });
  const local = fastify();
  for (const route of routes) bind(local, route);
  await listenLocally(local, config['local-socket'], log);
  const address = endpoint.server.address();
  return {
    port: typeof address === 'object' && address ? address.port : port,
    close: async () => {
      await Promise.all([endpoint.close(), local.close()]);
    },
  };
}

function parseEndpoint(endpoint: string): { host: string; port: number } {
  const colon = endpoint.lastIndexOf(':');
  const host = endpoint.slice(0, colon).replace(/^\[|\]$/g, '') || '0.0.0.0';
  const port = Number(endpoint.slice(colon + 1));
  if (colon < 0 || !Number.isInteger(port) || port < 0 || port > 65535)
    throw new ErrHttpConfig(`endpoint "${endpoint}" has to be address:port`);
  return { host, port };
}

function makeServer(config: HttpConfig, log: Logger): FastifyInstance {
  const cert = config['server-cert-file'];
  const key = config['server-key-file'];
  // A probe that keeps its connection open must not hold up the end of the agent.
  const options = { forceCloseConnections: true } as const;
  const server: FastifyInstance =
    cert && key
      ? (fastify({
          ...options,
          https: { cert: readFileSync(cert), key: readFileSync(key) },
        }) as unknown as FastifyInstance)
      : fastify(options);
  const users = config['client-basic-auth'].map((user) => Buffer.from(user));
  if (users.length > 0)
    server.addHook('onRequest', async (request, reply) => {
      if (isKnown(request, users)) return;
      log.warn({ url: request.url, from: request.ip }, 'REST request without valid credentials');
      await reply.code(401).header('WWW-Authenticate', 'Basic').send('Unauthorized\n');
    });
  return server;
}

function isKnown(request: FastifyRequest, users: readonly Buffer[]): boolean {
  const [scheme, credentials = ''] = (request.headers.authorization ?? '').split(' ');
  if (scheme?.toLowerCase() !== 'basic') return false;
  const given = Buffer.from(credentials, 'base64');
  return users.some((user) => user.length === given.length && timingSafeEqual(user, given));
}

/** The agent goes on without the local socket where its folder may not be written. */
async function listenLocally(local: FastifyInstance, path: string, log: Logger): Promise<void> {
  try {
    mkdirSync(dirname(path), { recursive: true });
    if (existsSync(path)) rmSync(path);
    await local.listen({ path });
  } catch (error) {
    log.warn({ path, err: error }, 'no local socket: routes that change something are not served');
  }
}

/** In place of a route that only the local socket serves. */
function closed(route: Route, socket: string): Route {
  const text = `this route changes something: use the unix socket ${socket}`;
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

async function answer(route: Route, request: FastifyRequest): Promise<RouteResponse> {
  const query: Record<string, string[]> = {};
  for (const [name, value] of new URL(request.url, 'http://agent').searchParams)
    query[name] = [...(query[name] ?? []), value];
  const params = request.params as Record<string, string>;
  try {
    return await route.handle({ query, params, body: request.body });
  } catch (error) {
    return failure(error instanceof ErrBadRequest ? 400 : 500, errorText(error));
  }
}

function send(reply: FastifyReply, response: RouteResponse): FastifyReply {
  reply.code(response.status);
  if (response.contentType !== undefined)
    return reply.type(response.contentType).send(response.body);
  // Indented, as the Go agent's documents are: people read them in a terminal.
  return reply
    .type('application/json; charset=utf-8')
    .send(`${JSON.stringify(response.body ?? null, undefined, 2)}\n`);
}
