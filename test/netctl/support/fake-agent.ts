/** A server that answers some paths as an agent does. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeAgent extends AsyncDisposable {
  /** For `--server`. */
  readonly address: string;
}

/** @param replies by path without the query: a document, or what writes the reply; others get 404 */
export async function fakeAgent(
  replies: Readonly<Record<string, object | string | ((reply: ServerResponse) => void)>>,
): Promise<FakeAgent> {
  const server = createServer(({ url = '' }, reply) => {
    const found = replies[url.slice(1).split('?')[0]!];
    if (typeof found === 'function') found(reply);
    else if (found === undefined) reply.writeHead(404).end('{"Error": "not known"}');
    else reply.end(typeof found === 'string' ? found : JSON.stringify(found));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
