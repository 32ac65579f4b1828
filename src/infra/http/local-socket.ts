/** The unix socket for what changes something: only its owner may connect. */
import { chmod, mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { CodedError, defineError } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';
import { isAnswered } from '../process/socket.ts';

export const HttpListenError = defineError({
  name: 'HttpListenError',
  code: 'CV_HTTP_LISTEN',
  remedy: 'See who listens there, a second agent perhaps; else change http.conf or --http-port.',
});

const OWNER_ONLY = 0o600;

/**
 * Where the folder may not be written, the agent goes on without the socket.
 * @returns closes server and socket
 * @throws HttpListenError when another process answers on the socket
 */
export async function listenLocally(
  server: FastifyInstance,
  path: string,
  log: Logger,
): Promise<() => Promise<void>> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await makeRoom(path);
    // Bound aside and moved, so that nobody finds the socket before it has its mode.
    const aside = `${path}.new`;
    await rm(aside, { force: true });
    await server.listen({ path: aside });
    await chmod(aside, OWNER_ONLY);
    await rename(aside, path);
  } catch (error) {
    if (error instanceof CodedError) throw error;
    log.warn({ path, err: error }, 'no local socket: routes that change something are not served');
    return () => server.close();
  }
  const { ino } = await stat(path);
  return async () => {
    await server.close();
    // Only our own: a successor may have moved in already.
    const standing = await stat(path).catch(() => undefined);
    if (standing?.ino === ino) await rm(path, { force: true });
  };
}

async function makeRoom(path: string): Promise<void> {
  const standing = await stat(path).catch(() => undefined);
  if (standing && !standing.isSocket())
    throw new HttpListenError('local-socket is there already, and no socket', { where: path });
  if (standing && (await isAnswered(path)))
    throw new HttpListenError('another process answers on it: a second agent?', { where: path });
}
