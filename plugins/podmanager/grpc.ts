/** The CNI service on a unix socket, as `cni.RemoteCNI` over gRPC. */
import { chmod, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type handleUnaryCall, Server, ServerCredentials, status } from '@grpc/grpc-js';
import type { Clock } from '#infra/clock/clock.ts';
import { defineError, errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { isAnswered } from '#infra/process/socket.ts';
import { CNIReply, CNIRequest, RemoteCNIService } from '#models/cni/cni.gen.ts';
import { messageCodec } from '#models/message.ts';
import type { CniService } from './service.ts';

export const ErrCniSocket = defineError({
  name: 'ErrCniSocket',
  code: 'CV_CNI_SOCKET',
  remedy: 'Look who holds the path, and whether its folder exists and may be written to.',
});

export interface CniServerOptions {
  readonly service: CniService;
  /** Absolute path of the socket. */
  readonly socketPath: string;
  /** Mode of the socket, for example 0o700. */
  readonly mode: number;
  /** Whether to replace a socket on which nobody answers. */
  readonly replaceStale: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface CniServer {
  /** Takes no more calls; those under way get `graceMs` milliseconds to end. */
  close(graceMs: number): Promise<void>;
}

const request = messageCodec(CNIRequest);
const reply = messageCodec(CNIReply);

function method(path: string) {
  return {
    path,
    requestStream: false as const,
    responseStream: false as const,
    requestSerialize: (value: CNIRequest) => Buffer.from(request.encodeWire(value)),
    requestDeserialize: (bytes: Buffer) => request.decodeWire(bytes, path),
    responseSerialize: (value: CNIReply) => Buffer.from(reply.encodeWire(value)),
    responseDeserialize: (bytes: Buffer) => reply.decodeWire(bytes, path),
  };
}

/** For servers and clients of grpc-js. */
export const cniServiceDefinition = {
  Add: method(RemoteCNIService.Add.path),
  Delete: method(RemoteCNIService.Delete.path),
} as const;

/** @throws ErrCniSocket */
export async function serveCni(options: CniServerOptions): Promise<CniServer> {
  const { socketPath, service, clock, log } = options;
  await makeRoom(socketPath, options.replaceStale);
  const server = new Server();
  server.addService(cniServiceDefinition, {
    Add: unary(service.add, log),
    Delete: unary(service.delete, log),
  });
  // bound aside and moved, so that nobody finds the socket before it has its mode
  const aside = `${socketPath}.new`;
  try {
    await rm(aside, { force: true });
    await bind(server, aside);
    await chmod(aside, options.mode);
    await rename(aside, socketPath);
  } catch (cause) {
    server.forceShutdown();
    throw new ErrCniSocket(`cannot listen: ${errorText(cause)}`, { where: socketPath, cause });
  }
  const { ino } = await stat(socketPath);
  log.info({ socket: socketPath }, 'CNI service is listening');
  return {
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      const timer = clock.timer(graceMs, () => server.forceShutdown());
      await closed;
      timer.cancel();
      // only our own: a successor may have moved in already
      const standing = await stat(socketPath).catch(() => undefined);
      if (standing?.ino === ino) await rm(socketPath, { force: true });
    },
  };
}

function bind(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    );
  });
}

async function makeRoom(path: string, replaceStale: boolean): Promise<void> {
  const folder = await stat(dirname(path)).catch(() => undefined);
  if (!folder?.isDirectory()) throw new ErrCniSocket('its folder is not there', { where: path });
  const standing = await stat(path).catch(() => undefined);
  if (!standing) return;
  if (!standing.isSocket())
    throw new ErrCniSocket('is there already, and no socket', { where: path });
  if (await isAnswered(path))
    throw new ErrCniSocket('another process answers on it: a second agent?', { where: path });
  if (!replaceStale)
    throw new ErrCniSocket('a stale socket is there, and force-socket-removal is off', {
      where: path,
    });
}

function unary(call: CniService['add'], log: Logger): handleUnaryCall<CNIRequest, CNIReply> {
  return (given, callback) => {
    const controller = new AbortController();
    given.on('cancelled', () => controller.abort(new Error('the caller has hung up')));
    call(given.request, controller.signal).then(
      (answer) => callback(null, answer),
      (error) => {
        log.error({ err: error }, 'CNI call failed without an answer');
        callback({ code: status.INTERNAL, details: errorText(error) });
      },
    );
  };
}
