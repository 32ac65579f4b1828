/** A gRPC server on a unix socket or a port. */
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Clock } from '../clock/clock.ts';
import { Connections } from '../http/connections.ts';
import { surviveFailedAccepts } from '../process/failed-accepts.ts';
import { type BoundSubject, bindServer } from './bind.ts';
import { type GrpcService, grpcConnectionServer } from './connection-server.ts';
import type { GrpcAddress, GrpcLimits, GrpcTls } from './endpoint.ts';

/** For the first bytes of a connection: clients send them at once. */
export const FIRST_BYTES_LIMIT_MS = 10_000;

export interface GrpcServerOptions {
  readonly services: readonly GrpcService[];
  readonly address: GrpcAddress;
  readonly subject: BoundSubject;
  /** undefined: without TLS. */
  readonly tls?: GrpcTls | undefined;
  readonly limits?: GrpcLimits;
  readonly clock: Clock;
}

export interface GrpcServer {
  /** Port of the endpoint; undefined on a unix socket. */
  readonly port: number | undefined;
  /** Accepts no more calls; current calls have `graceMs` milliseconds to end. */
  close(graceMs: number): Promise<void>;
}

/** @throws the error of the subject */
export async function serveGrpc(options: GrpcServerOptions): Promise<GrpcServer> {
  const { services, address, subject, tls, limits, clock } = options;
  const calls = grpcConnectionServer(services, limits);
  const server = listener(tls, (socket) => calls.take(socket));
  surviveFailedAccepts(server);
  // Only root can open the unix socket.
  if ('port' in address) new Connections(clock).limit(server);
  const clean = await bindServer(server, address, subject);
  const bound = server.address();
  return {
    port: bound !== null && typeof bound === 'object' ? bound.port : undefined,
    async close(graceMs) {
      server.close();
      const timer = clock.timer(graceMs, () => calls.abandon());
      await calls.close();
      timer.cancel();
      await clean();
    },
  };
}

/** Accepts connections, with TLS if it is configured. */
export function listener(tls: GrpcTls | undefined, serve: (socket: Socket) => void): Server {
  if (!tls) return createServer(serve);
  return createTlsServer(
    {
      ...tls,
      rejectUnauthorized: tls.requestCert,
      ALPNProtocols: ['h2'],
      handshakeTimeout: FIRST_BYTES_LIMIT_MS,
    },
    serve,
  );
}
