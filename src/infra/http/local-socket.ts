/** The unix socket for mutating routes: only its owner may connect. */
import { chmod, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { CodedError, defineError } from '../errors/errors.ts';
import { createFolder } from '../files/folder.ts';
import type { Logger } from '../log/log.ts';
import { isAnswered } from '../process/socket.ts';

export const HttpListenError = defineError({
  name: 'HttpListenError',
  code: 'CV_HTTP_LISTEN',
  remedy:
    'Check which process uses the port or socket, perhaps an agent of another user; else select another port with --http-port (npm start -- --http-port 9998), or change http.conf.',
});

const OWNER_ONLY = 0o600;

/**
 * If the folder is not writable, the agent runs without the socket.
 * @returns closes server and socket
 * @throws HttpListenError when another process answers on the socket
 */
export async function listenLocally(
  server: FastifyInstance,
  path: string,
  log: Logger,
): Promise<() => Promise<void>> {
  try {
    createFolder(dirname(path));
    await assertUnused(path);
    // Binds a temporary path and renames it, so that no client connects before the mode is set.
    const temporary = `${path}.new`;
    await rm(temporary, { force: true });
    await server.listen({ path: temporary });
    await chmod(temporary, OWNER_ONLY);
    await rename(temporary, path);
  } catch (error) {
    if (error instanceof CodedError) throw error;
    log.warn({ path, err: error }, 'cannot bind the local socket: mutating routes are not served');
    return () => server.close();
  }
  const { ino } = await stat(path);
  return async () => {
    await server.close();
    // Removes only this server's socket: a new agent may have replaced it.
    const existing = await stat(path).catch(() => undefined);
    if (existing?.ino === ino) await rm(path, { force: true });
  };
}

async function assertUnused(path: string): Promise<void> {
  const existing = await stat(path).catch(() => undefined);
  if (existing && !existing.isSocket())
    throw new HttpListenError('local-socket exists and is not a socket', { where: path });
  if (existing && (await isAnswered(path)))
    throw new HttpListenError('another process listens on local-socket', { where: path });
}
