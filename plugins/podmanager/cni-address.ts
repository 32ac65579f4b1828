/** Binds the server of the CNI service to its unix socket, or to a port. */
import { chmod, rename, rm, stat } from 'node:fs/promises';
import type { Server } from 'node:net';
import { dirname } from 'node:path';
import { defineError, errorText } from '#infra/errors/errors.ts';
import type { GrpcAddress } from '#infra/grpc/endpoint.ts';
import { isAnswered } from '#infra/process/socket.ts';

export const CniSocketError = defineError({
  name: 'CniSocketError',
  code: 'CV_CNI_SOCKET',
  remedy: 'Check that no other process uses the path, and that its folder exists and is writable.',
});

type SocketAddress = Extract<GrpcAddress, { readonly socketPath: string }>;

/**
 * Makes the server listen.
 * @returns removes what a closed server leaves behind
 * @throws CniSocketError
 */
export async function bindCni(server: Server, address: GrpcAddress): Promise<() => Promise<void>> {
  const where = 'port' in address ? `${address.host}:${address.port}` : address.socketPath;
  try {
    if (!('port' in address)) return await bindSocket(server, address);
    await listening(server, address);
    return async () => undefined;
  } catch (cause) {
    server.close();
    if (cause instanceof CniSocketError) throw cause;
    throw new CniSocketError(`cannot listen on the CNI socket: ${errorText(cause)}`, {
      where,
      cause,
    });
  }
}

async function bindSocket(server: Server, address: SocketAddress): Promise<() => Promise<void>> {
  const { socketPath, mode, replaceStale } = address;
  await ensurePathIsFree(socketPath, replaceStale);
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
