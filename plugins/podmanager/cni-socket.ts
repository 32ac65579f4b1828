/**
 * The unix socket of the CNI service. The first bytes of a connection select the protocol: gRPC
 * starts with the HTTP/2 preface, everything else is for the server of contiv-cni.
 */
import { chmod, rename, rm, stat } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import type { Clock } from '#infra/clock/clock.ts';
import { defineError, errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { surviveFailedAccepts } from '#infra/process/failed-accepts.ts';
import { isAnswered } from '#infra/process/socket.ts';
import type { CniService } from './cni-service.ts';
import { type ConnectionServer, grpcServer } from './grpc-server.ts';
import { callServer } from './runtime-call/call-server.ts';

export const CniSocketError = defineError({
  name: 'CniSocketError',
  code: 'CV_CNI_SOCKET',
  remedy: 'Check that no other process uses the path, and that its folder exists and is writable.',
});

/** Start of the HTTP/2 preface. */
const http2 = Buffer.from('PRI ');

/** Both clients send them at once. */
const FIRST_BYTES_LIMIT_MS = 10_000;

export interface CniServerOptions {
  readonly service: CniService;
  /** Absolute path of the socket. */
  readonly socketPath: string;
  /** Mode of the socket, for example 0o700. */
  readonly mode: number;
  /** Whether to replace a stale socket, on which no process answers. */
  readonly replaceStale: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface CniServer {
  /** Accepts no more calls; current calls have `graceMs` milliseconds to end. */
  close(graceMs: number): Promise<void>;
}

/** @throws CniSocketError */
export async function serveCni(options: CniServerOptions): Promise<CniServer> {
  const { socketPath, service, clock, log } = options;
  await ensurePathIsFree(socketPath, options.replaceStale);
  const grpc = grpcServer(service, log);
  const calls = callServer({ service, clock, log });
  const undecided = new Set<Socket>();
  const server = createServer((socket) => {
    undecided.add(socket);
    const limit = clock.timer(FIRST_BYTES_LIMIT_MS, () => socket.destroy());
    socket.once('close', () => undecided.delete(socket));
    void selectServer(socket, grpc, calls).then((chosen) => {
      limit.cancel();
      undecided.delete(socket);
      chosen?.take(socket);
    });
  });
  surviveFailedAccepts(server);
  // bound to another path and renamed, so that the socket has its mode when it becomes visible
  const aside = `${socketPath}.new`;
  try {
    await rm(aside, { force: true });
    await bind(server, aside);
    await chmod(aside, options.mode);
    await rename(aside, socketPath);
  } catch (cause) {
    server.close();
    throw new CniSocketError(`cannot listen on the CNI socket: ${errorText(cause)}`, {
      where: socketPath,
      cause,
    });
  }
  const { ino } = await stat(socketPath);
  log.info({ socket: socketPath }, 'CNI service is listening');
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
      // only the own socket: another agent may have replaced it already
      const standing = await stat(socketPath).catch(() => undefined);
      if (standing?.ino === ino) await rm(socketPath, { force: true });
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

function bind(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => resolve());
  });
}

async function ensurePathIsFree(path: string, replaceStale: boolean): Promise<void> {
  const folder = await stat(dirname(path)).catch(() => undefined);
  if (!folder?.isDirectory())
    throw new CniSocketError('the folder of the CNI socket does not exist', { where: path });
  const standing = await stat(path).catch(() => undefined);
  if (!standing) return;
  if (!standing.isSocket())
    throw new CniSocketError('the path of the CNI socket exists and is not a socket', {
      where: path,
    });
  if (await isAnswered(path))
    throw new CniSocketError('another process listens on the CNI socket, possibly a second agent', {
      where: path,
    });
  if (!replaceStale)
    throw new CniSocketError('a stale CNI socket exists, and force-socket-removal is false', {
      where: path,
    });
}
