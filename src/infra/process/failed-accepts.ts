import type { Server } from 'node:net';

/**
 * Node.js reports a connection that it cannot accept, for want of files, as an error of the server, which
 * without a listener ends the process. The client comes again; errors of `listen` are reported to its caller.
 */
export function surviveFailedAccepts(server: Pick<Server, 'on'>): void {
  server.on('error', () => undefined);
}
