/** The health check port over HTTP, within the limits of the REST server. */
import { createServer, type Server } from 'node:http';
import type { Clock } from '#infra/clock/clock.ts';
import { Connections } from '#infra/http/connections.ts';
import { surviveFailedAccepts } from '#infra/process/failed-accepts.ts';
import type { HealthCheckPort } from './health-check-port.ts';

/** A request that never ends must not occupy a connection. */
const STALLED_MS = 10_000;

export function httpHealthCheckPort(clock: Clock): HealthCheckPort {
  return {
    async open(port, reply) {
      const connections = new Connections(clock);
      // every path and method has the same reply, as with kube-proxy
      const server = createServer(
        connections.limitPipelining((request, response) => {
          request.resume();
          const { status, headers, body } = reply();
          response.writeHead(status, headers).end(body);
        }),
      );
      connections.limit(server);
      // without a listener, Node.js would do it, but `limit` adds one
      server.on('clientError', (_error, socket) => {
        if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
        else socket.destroy();
      });
      surviveFailedAccepts(server);
      server.requestTimeout = STALLED_MS;
      server.setTimeout(STALLED_MS);
      await listening(server, port);
      return {
        close: () =>
          new Promise((resolve) => {
            server.close(() => resolve());
            server.closeAllConnections();
          }),
      };
    },
  };
}

/** Without a host, the port is open on all addresses of both families. */
function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
