/** A reverse proxy that serves the agent below a path, and takes the path away before it asks the agent. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PrefixProxy extends AsyncDisposable {
  readonly port: number;
  /** Paths that were asked for outside of the prefix. */
  readonly outside: readonly string[];
}

/** @param prefix such as `/x/y` */
export async function proxyBelow(prefix: string, agentPort: number): Promise<PrefixProxy> {
  const outside: string[] = [];
  const server = createServer((asked, answer) => {
    const { url = '', method, headers } = asked;
    if (!url.startsWith(`${prefix}/`)) {
      outside.push(url);
      answer.writeHead(404).end();
      return;
    }
    const path = url.slice(prefix.length);
    const sent = request({ host: '127.0.0.1', port: agentPort, path, method, headers });
    sent.on('response', (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      answer.flushHeaders();
      reply.pipe(answer);
      reply.on('error', () => answer.destroy());
    });
    sent.on('error', () => answer.destroy());
    answer.on('close', () => sent.destroy());
    asked.pipe(sent);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    outside,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
