/** A port that stays while the agent behind it is restarted, as a node's port does. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface ForwardedPort extends AsyncDisposable {
  readonly port: number;
  /** Port of the agent; undefined: connections are refused. */
  target: number | undefined;
}

export async function forwardPort(target: number): Promise<ForwardedPort> {
  const open = new Set<Socket>();
  const forwarded = {
    port: 0,
    target: target as number | undefined,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  const server = createServer((socket) => {
    if (forwarded.target === undefined) return void socket.resetAndDestroy();
    const agent = connect(forwarded.target, '127.0.0.1');
    for (const one of [socket, agent]) {
      open.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        open.delete(one);
        socket.destroy();
        agent.destroy();
      });
    }
    socket.pipe(agent).pipe(socket);
    return undefined;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  forwarded.port = (server.address() as AddressInfo).port;
  return forwarded;
}
