/** Binds a server to its unix socket, or to a port. */
import { chmod, rename, rm, stat } from 'node:fs/promises';
import type { Server } from 'node:net';
import { dirname } from 'node:path';
import { type CodedErrorClass, errorText } from '../errors/errors.ts';
import { isAnswered } from '../process/socket.ts';
import type { GrpcAddress } from './endpoint.ts';

/** The socket or port, for errors. */
export interface BoundSubject {
  /** For example `CNI socket`. */
  readonly name: string;
  readonly error: CodedErrorClass;
}

type SocketAddress = Extract<GrpcAddress, { readonly socketPath: string }>;

/**
 * Makes the server listen.
 * @returns removes what a closed server leaves behind
 * @throws the error of the subject
 */
export async function bindServer(
  server: Server,
  address: GrpcAddress,
  subject: BoundSubject,
): Promise<() => Promise<void>> {
  try {
    if (!('port' in address)) return await bindSocket(server, address, subject);
    await listening(server, address);
    return async () => undefined;
  } catch (cause) {
    server.close();
    if (cause instanceof subject.error) throw cause;
    throw new subject.error(`cannot listen on the ${subject.name}: ${errorText(cause)}`, {
      where: addressText(address),
      cause,
    });
  }
}

/** The path of the socket, or `host:port`. */
export function addressText(address: GrpcAddress): string {
  if (!('port' in address)) return address.socketPath;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `${host}:${address.port}`;
}

async function bindSocket(
  server: Server,
  address: SocketAddress,
  subject: BoundSubject,
): Promise<() => Promise<void>> {
  const { socketPath, mode, replaceStale } = address;
  await ensurePathIsFree(socketPath, replaceStale, subject);
  // bound to another path and renamed, so that the socket has its mode when it becomes visible
  const aside = `${socketPath}.new`;
  await rm(aside, { force: true });
  await listening(server, { path: aside });
  await chmod(aside, mode);
  await rename(aside, socketPath);
  const { ino } = await stat(socketPath);
  return async () => {
    // only the own socket: another agent may have replaced it already
    const standing = await stat(socketPath).catch(() => undefined);
    if (standing?.ino === ino) await rm(socketPath, { force: true });
  };
}

function listening(
  server: Server,
  where: { readonly path: string } | { readonly host: string; readonly port: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function ensurePathIsFree(
  path: string,
  replaceStale: boolean,
  { name, error: ListenError }: BoundSubject,
): Promise<void> {
  const folder = await stat(dirname(path)).catch(() => undefined);
  if (!folder?.isDirectory())
    throw new ListenError(`the folder of the ${name} does not exist`, { where: path });
  const standing = await stat(path).catch(() => undefined);
  if (!standing) return;
  if (!standing.isSocket())
    throw new ListenError(`the path of the ${name} exists and is not a socket`, { where: path });
  if (await isAnswered(path))
    throw new ListenError(`another process listens on the ${name}, possibly a second agent`, {
      where: path,
    });
  if (!replaceStale)
    throw new ListenError(`a stale ${name} exists, and force-socket-removal is false`, {
      where: path,
    });
}
