/**
 * The REST server: two fastify servers with the same routes, one on the endpoint for probes,
 * Prometheus and netctl, one on a unix socket for mutating routes.
 */
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerFactory,
} from 'fastify';
import type { Clock } from '../clock/clock.ts';
import { errorText } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';
import { surviveFailedAccepts } from '../process/failed-accepts.ts';
import { Authentication, authorizationOf } from './authentication/authentication.ts';
import { loginRoutes } from './authentication/login-routes.ts';
import { groupNames } from './authentication/permissions.ts';
import { TokenUsers } from './authentication/token-users.ts';
import { refuseBytes } from './bare-reply.ts';
import { HttpConfigError, tlsOptions } from './certificate.ts';
import { type HttpConfig, parseEndpoint } from './config.ts';
import { Connections } from './connections.ts';
import { guardEndpoint } from './endpoint-guard.ts';
import { HttpListenError, listenLocally } from './local-socket.ts';
import { listenWithLoopback } from './loopback-listener.ts';
import { withOpenApi } from './openapi-routes.ts';
import { refuseOtherMethods } from './other-methods.ts';
import { refuseUrl, send, unifyErrorReplies } from './reply.ts';
import { answer, type Route, type RouteRequest } from './route.ts';

export interface HttpServer {
  /** Port of the endpoint, also when the system has selected it; 0 when the server is disabled. */
  readonly port: number;
  close(): Promise<void>;
}

/** A request that never ends, or a reply that is not read, must not occupy a connection. */
const STALLED_MS = 30_000;
/**
 * Connections that wait to be accepted, if the kernel allows so many. When there are more, it drops the
 * packet that opens a connection, and the client sends it again after a second.
 */
const BACKLOG = 4_096;
/** A client that does not begin TLS must not occupy a connection either. */
const HANDSHAKE_MS = 10_000;
/** Longer than the usual interval of Prometheus. */
const KEEP_ALIVE_MS = 72_000;

/** Names of pods have up to 253 characters, each at most three in a path; the default is 100. */
const MAX_SEGMENT_LENGTH = 1_024;

/** The routes check their input themselves, and the libraries that do it for fastify are a hundred modules. */
function noSchemas(): never {
  throw new Error('a route has a schema for fastify');
}

const serverOptions = {
  // A probe that keeps its connection open must not delay the stop of the agent.
  forceCloseConnections: true,
  requestTimeout: STALLED_MS,
  // netctl of the original asks for //dump/…
  routerOptions: { ignoreDuplicateSlashes: true, maxParamLength: MAX_SEGMENT_LENGTH },
  schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  frameworkErrors: refuseUrl,
  clientErrorHandler: refuseBytes,
} as const;

/** @throws HttpConfigError, HttpListenError */
export async function startHttpServer(
  config: HttpConfig,
  declared: readonly Route[],
  clock: Clock,
  log: Logger,
): Promise<HttpServer> {
  if (config.disabled) return { port: 0, close: async () => undefined };
  const tokens = tokenUsersOf(config, clock, log);
  const authentication = new Authentication(config, tokens, clock, log);
  if (config['open-mutating-routes'] && !authentication.isRequired)
    throw new HttpConfigError(
      'open-mutating-routes requires client-basic-auth, enable-token-auth or client-cert-files',
    );
  const where = parseEndpoint(config.endpoint);
  if (!where) throw new HttpConfigError(`endpoint "${config.endpoint}" has to be address:port`);
  const logins = loginRoutes({
    users: tokens,
    isSecure: config['server-cert-file'] !== '',
    failures: authentication.failures,
  });
  const routes = withOpenApi([...declared, ...logins], {
    basic: !tokens && config['client-basic-auth'].length > 0,
    token: tokens !== undefined,
    certificate: config['client-cert-files'].length > 0,
  });
  const connections = new Connections(clock);
  const endpoint = makeEndpoint(config, connections);
  guardEndpoint(endpoint, config, authentication, clock);
  bindAll(endpoint, routes);
  try {
    await listenWithLoopback(endpoint, { ...where, backlog: BACKLOG });
  } catch (cause) {
    throw new HttpListenError(errorText(cause), { where: config.endpoint, cause });
  }
  const local = fastify(serverOptions);
  surviveFailedAccepts(local.server);
  bindAll(local, routes);
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
    const server = tls
      ? createTlsServer({ ...tls, handshakeTimeout: HANDSHAKE_MS }, limited)
      : createServer(limited);
    surviveFailedAccepts(server);
    connections.limit(server);
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

/**
 * The users of the token authentication; undefined when it is off.
 * @throws HttpConfigError
 */
function tokenUsersOf(config: HttpConfig, clock: Clock, log: Logger): TokenUsers | undefined {
  const { users } = config;
  if (!config['enable-token-auth']) {
    if (users.length === 0) return undefined;
    // No client would have to log in, which is not what the author of the file expects.
    throw new HttpConfigError('users requires enable-token-auth: true');
  }
  if (config['client-basic-auth'].length > 0)
    log.warn('client-basic-auth has no effect: users log in for a token');
  for (const { name, permissions } of users)
    for (const group of permissions.filter((group) => !groupNames.includes(group)))
      log.warn({ user: name, group }, 'permission group is unknown and permits nothing');
  return new TokenUsers(config, clock);
}

function bindAll(server: FastifyInstance, routes: readonly Route[]): void {
  unifyErrorReplies(server);
  refuseOtherMethods(server, routes);
  for (const route of routes) bind(server, route);
}

function bind(server: FastifyInstance, route: Route): void {
  const options = {
    method: route.method,
    url: route.path,
    config: { route },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const response = await answer(route, requestOf(request));
      return send(reply, response);
    },
  };
  if (!route.acceptsForm) {
    server.route(options);
    return;
  }
  // Other routes accept no form: pages of other sites can send one.
  server.register(async (scope) => {
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body as string))),
    );
    scope.route(options);
  });
}

function requestOf(request: FastifyRequest): RouteRequest {
  const query: Record<string, string[]> = Object.create(null);
  const [, ...search] = request.url.split('?');
  for (const [name, value] of new URLSearchParams(search.join('?'))) {
    query[name] ??= [];
    query[name].push(value);
  }
  const { body, ip: address = '', user, headers } = request;
  return {
    query,
    params: request.params as Record<string, string>,
    body,
    address,
    ...(user !== undefined && { user }),
    authorization: authorizationOf(request),
    accept: headers.accept,
    acceptEncoding: String(headers['accept-encoding'] ?? ''),
  };
}
