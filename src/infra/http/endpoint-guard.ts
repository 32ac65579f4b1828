/**
 * Decides for each request on the endpoint whether and when it is handled, in this order: the Host
 * header, then for all but the probes the site that it comes from, the credentials, the rate of its
 * user, whether its route is open, a free place for its body, and a free place for its handler. Pods
 * can reach the endpoint, so none of it trusts the client.
 */
import { once } from 'node:events';
import { hostname } from 'node:os';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock/clock.ts';
import { Admission, type Client } from './admission.ts';
import type { Authentication } from './authentication/authentication.ts';
import { type HttpConfig, parseEndpoint } from './config.ts';
import { isAcceptedHost, isOwnSite } from './host-header.ts';
import { RateLimiter } from './rate-limiter.ts';
import { send } from './reply.ts';
import { failure, type Route } from './route.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly route?: Route;
  }
  interface FastifyRequest {
    /** Name of the user who has identified himself. */
    user?: string;
    /** Frees the place of the body. */
    leaveUpload?: () => void;
    /** Resolves when the reply is sent or the connection is closed. */
    replied?: Promise<void>;
  }
}

/** A stream begins within it, and waits for events then. */
const STREAM_MS = 100;

export function guardEndpoint(
  server: FastifyInstance,
  config: HttpConfig,
  authentication: Authentication,
  clock: Clock,
): void {
  const handlers = new Admission(clock);
  // A client that sends its body slowly must not keep the place of a handler.
  const uploads = new Admission(clock);
  const rate = rateLimiterOf(config, clock);
  const machine = hostname();
  const isPrivate =
    authentication.isRequired || isLoopback(parseEndpoint(config.endpoint)?.host ?? '');

  server.addHook('onRequest', async (request, reply) => {
    const replied = once(reply.raw, 'close').then(() => undefined);
    request.replied = replied;
    const { headers } = request.raw;
    // Nothing that follows a body is read: the body of a refused request may be longer than it says.
    if (hasBody(request)) reply.header('Connection', 'close');
    // Credentials are not sent to another site, so a request that has them is no DNS rebinding.
    if (!authentication.isRequired && !isAcceptedHost(headers.host, machine))
      return send(reply, unknownHost(request));
    const { route } = request.routeOptions.config;
    if (route?.isProbe) return undefined;
    if (request.method !== 'GET' && !isOwnSite(headers.origin, headers.host))
      return send(reply, failure(403, `the origin ${headers.origin} is another site`));
    const user = await authentication.identify(request, reply, route);
    if (user === undefined) return reply;
    if (user !== '') {
      request.user = user;
      reply.header('X-Ligato-Auth-Username', user);
    }
    if (rate && !isWithinRate(rate, request, reply)) return reply;
    if (route?.mutating && !config['open-mutating-routes'])
      return send(reply, failure(403, closedText(config)));
    if (route?.permission && !isPrivate) return send(reply, failure(403, privateText(config)));
    if (!hasBody(request)) return undefined;
    const leave = await admit(uploads, request, reply, replied);
    if (!leave) return reply;
    request.leaveUpload = leave;
    return undefined;
  });

  server.addHook('preHandler', async (request, reply) => {
    const { route } = request.routeOptions.config;
    // Logins have a queue of their own.
    const isExempt = route?.isProbe || route?.isLogin;
    const leave =
      isExempt || (await admit(handlers, request, reply, request.replied!, route?.isStream));
    request.leaveUpload?.();
    return leave ? undefined : reply;
  });
}

/**
 * @returns frees the place early; undefined when the client is disconnected
 * @throws HttpOverloadError
 */
async function admit(
  admission: Admission,
  request: FastifyRequest,
  reply: FastifyReply,
  replied: Promise<void>,
  isStream = false,
): Promise<(() => void) | undefined> {
  const client: Client = {
    address: request.ip,
    giveUp() {
      if (!reply.raw.headersSent) return false;
      request.raw.socket.destroy();
      return true;
    },
  };
  const leave = await admission.enter(client, isStream ? STREAM_MS : undefined);
  void replied.then(leave);
  if (!request.raw.socket.destroyed) return leave;
  reply.hijack();
  return undefined;
}

function hasBody({ headers }: FastifyRequest): boolean {
  return Number(headers['content-length'] ?? 0) > 0;
}

function rateLimiterOf(config: HttpConfig, clock: Clock): RateLimiter | undefined {
  const { limit, burst } = config['rate-limiter'];
  return limit > 0 ? new RateLimiter(limit, burst, clock) : undefined;
}

/** Sends the reply, with the headers of the original, if the user or address has too many requests. */
function isWithinRate(rate: RateLimiter, request: FastifyRequest, reply: FastifyReply): boolean {
  const waitMs = rate.take(request.user ?? request.ip);
  reply.headers({
    'X-Ligato-RateLimiter-Limit': rate.limit,
    'X-Ligato-RateLimiter-MaxBurst': rate.burst,
  });
  if (waitMs === 0) return true;
  reply.headers({
    'X-Ligato-RateLimiter-WaitDelay': `${waitMs}ms`,
    'Retry-After': Math.ceil(waitMs / 1_000),
  });
  reply.code(429).send('rate limit exceeded\n');
  return false;
}

function closedText(config: HttpConfig): string {
  const socket = config['local-socket'];
  return `this route changes state: use the unix socket ${socket}, or set open-mutating-routes in http.conf`;
}

function privateText(config: HttpConfig): string {
  const socket = config['local-socket'];
  return `this route has private data, and pods can reach this port: use the unix socket ${socket}, or configure users with the permission flows in http.conf`;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

function unknownHost({ headers }: FastifyRequest) {
  return failure(
    421,
    `the Host header "${headers.host}" is not accepted: use the address of the node, ` +
      'or a name without a dot',
  );
}
