/**
 * The REST server: two fastify servers with the same routes, one on the endpoint for probes,
 * Prometheus and netctl, one on a unix socket for mutating routes.
 */
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import fastify, {
  type FastifyInstance,
  type FastifyRequest,
  type FastifyServerFactory,
} from 'fastify';
import type { Clock } from '../clock/clock.ts';
import { errorText } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';
import { surviveFailedAccepts } from '../process/failed-accepts.ts';
import { HttpConfigError, tlsOptions } from './certificate.ts';
import { type HttpConfig, parseEndpoint } from './config.ts';
import { Connections } from './connections.ts';
import { guardEndpoint } from './endpoint-guard.ts';
import { HttpListenError, listenLocally } from './local-socket.ts';
import { withOpenApi } from './openapi-routes.ts';
import { send, unifyErrorReplies } from './reply.ts';
import { BadRequestError, failure, type Route, type RouteResponse } from './route.ts';

export interface HttpServer {
  /** Port of the endpoint, also when the system has selected it; 0 when the server is disabled. */
  readonly port: number;
  close(): Promise<void>;
}

/** A request that never ends, or a reply that is not read, must not occupy a connection. */
const STALLED_MS = 30_000;
/** Longer than the usual interval of Prometheus. */
const KEEP_ALIVE_MS = 72_000;

const serverOptions = {
  // A probe that keeps its connection open must not delay the stop of the agent.
  forceCloseConnections: true,
  requestTimeout: STALLED_MS,
} as const;

/** @throws HttpConfigError, HttpListenError */
export async function startHttpServer(
  config: HttpConfig,
  declared: readonly Route[],
  clock: Clock,
  log: Logger,
): Promise<HttpServer> {
  if (config.disabled) return { port: 0, close: async () => undefined };
  const open = config['open-mutating-routes'];
  if (open && config['client-basic-auth'].length === 0)
    throw new HttpConfigError('open-mutating-routes requires client-basic-auth');
  const where = parseEndpoint(config.endpoint);
  if (!where) throw new HttpConfigError(`endpoint "${config.endpoint}" has to be address:port`);
  const routes = withOpenApi(declared, {
    basic: config['client-basic-auth'].length > 0,
    token: false,
    certificate: config['client-cert-files'].length > 0,
  });
  const connections = new Connections(clock);
  const endpoint = makeEndpoint(config, connections);
  guardEndpoint(endpoint, config, connections, clock, log);
  unifyErrorReplies(endpoint);
  for (const route of routes)
    bind(endpoint, open || !route.mutating ? route : forbidden(route, config['local-socket']));
  refuseOtherMethods(endpoint, routes);
  try {
    await endpoint.listen(where);
  } catch (cause) {
    throw new HttpListenError(errorText(cause), { where: config.endpoint, cause });
  }
  const local = fastify(serverOptions);
  surviveFailedAccepts(local.server);
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

function makeEndpoint(config: HttpConfig, connections: Connections): FastifyInstance {
  const tls = tlsOptions(config);
  const serverFactory: FastifyServerFactory = (handler) => {
    const limited = connections.limitPipelining(handler);
    const server = tls ? createTlsServer({ ...tls }, limited) : createServer(limited);
    surviveFailedAccepts(server);
    server.requestTimeout = STALLED_MS;
    server.keepAliveTimeout = KEEP_ALIVE_MS;
    return server.setTimeout(STALLED_MS);
  };
  try {
    return fastify({ ...serverOptions, serverFactory });
  } catch (cause) {
    const where = config['server-cert-file'];
    throw new HttpConfigError(`invalid certificate or key: ${errorText(cause)}`, { where, cause });
  }
}

/** Replaces a route that only the local socket serves. */
function forbidden(route: Route, socket: string): Route {
  const text = `this route changes state: use the unix socket ${socket}, or set open-mutating-routes in http.conf`;
  return { ...route, handle: () => failure(403, text) };
}

function bind(server: FastifyInstance, route: Route): void {
  server.route({
    method: route.method,
    url: route.path,
    config: { isProbe: route.isProbe === true },
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
