/**
 * A queue of its own for connections of the machine itself: when thousands of others connect, a probe of
 * kubelet would wait until each of them has been accepted. The kernel prefers the listener with the more
 * specific address.
 */
import { once } from 'node:events';
import { createServer, type ListenOptions, type Server } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { surviveFailedAccepts } from '../process/failed-accepts.ts';

const LOOPBACK = '127.0.0.1';
const anyAddress = new Set(['0.0.0.0', '::']);

interface Where {
  readonly host: string;
  readonly port: number;
  readonly backlog: number;
}

/**
 * Listens at `where`, and at the loopback address too if `where` is every address.
 * @throws Error of the system, e.g. EADDRINUSE
 */
export async function listenWithLoopback(endpoint: FastifyInstance, where: Where): Promise<void> {
  // Other systems lack the option or the preference.
  if (process.platform !== 'linux' || !anyAddress.has(where.host)) {
    await endpoint.listen(where);
    return;
  }
  const shared = { ...where, port: await freePort(where), reusePort: true };
  const loopback = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    endpoint.server.emit('connection', socket),
  );
  await listen(loopback, { ...shared, host: LOOPBACK });
  surviveFailedAccepts(loopback);
  endpoint.addHook('preClose', async () => void loopback.close());
  try {
    await endpoint.listen(shared);
  } catch (error) {
    loopback.close();
    throw error;
  }
}

/**
 * The system lets programs share a port when both have the option: without it, it refuses the port of
 * another agent. @returns the port, also when the system selects it
 */
async function freePort(where: Where): Promise<number> {
  const server = createServer();
  await listen(server, where);
  const address = server.address();
  const closed = once(server, 'close');
  server.close();
  await closed;
  return typeof address === 'object' && address ? address.port : where.port;
}

async function listen(server: Server, options: ListenOptions): Promise<void> {
  server.listen(options);
  await once(server, 'listening');
}
