/**
 * The server of the CNI service, on a unix socket or a port. The first bytes of a connection select the protocol: gRPC
 * starts with the HTTP/2 preface, everything else is for the server of contiv-cni.
 */
import type { Socket } from 'node:net';
import type { Clock } from '#infra/clock/clock.ts';
import { defineError } from '#infra/errors/errors.ts';
import { addressText, bindServer } from '#infra/grpc/bind.ts';
import type { ConnectionServer } from '#infra/grpc/connection-server.ts';
import type { GrpcAddress, GrpcLimits, GrpcTls } from '#infra/grpc/endpoint.ts';
import { FIRST_BYTES_LIMIT_MS, listener } from '#infra/grpc/server.ts';
import { Connections } from '#infra/http/connections.ts';
import type { Logger } from '#infra/log/log.ts';
import { surviveFailedAccepts } from '#infra/process/failed-accepts.ts';
import type { CniService } from './cni-service.ts';
import { grpcServer } from './grpc-server.ts';
import { callServer } from './runtime-call/call-server.ts';

export const CniSocketError = defineError({
  name: 'CniSocketError',
  code: 'CV_CNI_SOCKET',
  remedy: 'Check that no other process uses the path, and that its folder exists and is writable.',
});

/** Start of the HTTP/2 preface. */
const http2 = Buffer.from('PRI ');

export type CniServerOptions = GrpcAddress & {
  readonly service: CniService;
  /** undefined: without TLS. */
  readonly tls?: GrpcTls | undefined;
  readonly limits?: GrpcLimits;
  readonly clock: Clock;
  readonly log: Logger;
};

export interface CniServer {
  /** Accepts no more calls; current calls have `graceMs` milliseconds to end. */
  close(graceMs: number): Promise<void>;
}

/** @throws CniSocketError */
export async function serveCni(options: CniServerOptions): Promise<CniServer> {
  const { service, tls, limits, clock, log } = options;
  const grpc = grpcServer(service, log, limits);
  const calls = callServer({ service, clock, log });
  const undecided = new Set<Socket>();
  const serve = (socket: Socket): void => {
    undecided.add(socket);
    const limit = clock.timer(FIRST_BYTES_LIMIT_MS, () => socket.destroy());
    socket.once('close', () => undecided.delete(socket));
    void selectServer(socket, grpc, calls).then((chosen) => {
      limit.cancel();
      undecided.delete(socket);
      chosen?.take(socket);
    });
  };
  const server = listener(tls, serve);
  surviveFailedAccepts(server);
  // Only root can open the unix socket.
  if ('port' in options) new Connections(clock).limit(server);
  const clean = await bindServer(server, options, { name: 'CNI socket', error: CniSocketError });
  const where = addressText(options);
  if ('port' in options && !tls)
    log.warn({ endpoint: where }, 'CNI service is open to every process of this machine');
  log.info({ socket: where }, 'CNI service is listening');
  return {
    async close(graceMs) {
      server.close();
      for (const socket of undecided) socket.destroy();
      const timer = clock.timer(graceMs, () => {
        grpc.abandon();
        calls.abandon();
      });
      await Promise.all([grpc.close(), calls.close()]);
      timer.cancel();
      await clean();
    },
  };
}

/** @returns the server for the protocol of the connection; undefined if it was closed */
async function selectServer<Spoken extends ConnectionServer>(
  socket: Socket,
  grpc: Spoken,
  calls: Spoken,
): Promise<Spoken | undefined> {
  const gone = () => undefined;
  socket.on('error', gone);
  let head = Buffer.alloc(0);
  while (head.length < http2.length && head.equals(http2.subarray(0, head.length))) {
    const more: Buffer | null = await nextBytes(socket);
    if (!more) return undefined;
    head = Buffer.concat([head, more]);
  }
  socket.off('error', gone);
  socket.unshift(head);
  return head.subarray(0, http2.length).equals(http2) ? grpc : calls;
}

/** @returns null at the end of the connection */
async function nextBytes(socket: Socket): Promise<Buffer | null> {
  for (;;) {
    const bytes: Buffer | null = socket.read();
    if (bytes) return bytes;
    if (socket.destroyed || socket.readableEnded) return null;
    await new Promise<void>((resolve) => {
      const wake = () => {
        for (const event of events) socket.off(event, wake);
        resolve();
      };
      const events = ['readable', 'end', 'close'] as const;
      for (const event of events) socket.on(event, wake);
    });
  }
}
