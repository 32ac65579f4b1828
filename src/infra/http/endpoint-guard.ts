/**
 * Decides for each request on the endpoint whether and when it is handled, in this order: the
 * requests before it on the same connection, the Host header, then for all but the probes the
 * credentials, and a free place. Pods can reach the endpoint, so none of it trusts the client.
 */
import { once } from 'node:events';
import { hostname } from 'node:os';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock/clock.ts';
import type { Logger } from '../log/log.ts';
import { Admission, HttpOverloadError } from './admission.ts';
import { Authentication } from './authentication.ts';
import type { HttpConfig } from './config.ts';
import type { Connections } from './connections.ts';
import { isAcceptedHost } from './host-header.ts';
import { send } from './reply.ts';
import { failure } from './route.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly isProbe?: boolean;
  }
}

export function guardEndpoint(
  server: FastifyInstance,
  config: HttpConfig,
  connections: Connections,
  clock: Clock,
  log: Logger,
): void {
  const authentication = new Authentication(config, clock, log);
  const admission = new Admission(clock);
  const machine = hostname();
  connections.limit(server.server);

  server.addHook('onRequest', async (request, reply) => {
    const replied = once(reply.raw, 'close').then(() => undefined);
    const { socket } = request.raw;
    await connections.turnOf(socket, replied);
    if (socket.destroyed) return reply.hijack();
    // Credentials are not sent to another site, so a request that has them is no DNS rebinding.
    if (!authentication.isRequired && !isAcceptedHost(request.headers.host, machine))
      return send(reply, unknownHost(request));
    if (request.routeOptions.config.isProbe) return undefined;
    if (await authentication.refuse(request, reply)) return reply;
    return await admit(admission, request, reply, replied);
  });
}

async function admit(
  admission: Admission,
  request: FastifyRequest,
  reply: FastifyReply,
  replied: Promise<void>,
): Promise<FastifyReply | undefined> {
  try {
    const leave = await admission.enter(request.ip);
    void replied.then(leave);
  } catch (error) {
    if (!(error instanceof HttpOverloadError)) throw error;
    return send(reply.header('Retry-After', '1'), failure(503, error.message));
  }
  return request.raw.socket.destroyed ? reply.hijack() : undefined;
}

function unknownHost({ headers }: FastifyRequest) {
  return failure(
    421,
    `the Host header "${headers.host}" is not accepted: use the address of the node, ` +
      'or a name without a dot',
  );
}
