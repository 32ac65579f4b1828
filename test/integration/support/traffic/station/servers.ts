/** Servers that say who they are and which client they see, and return what they receive. */
import { createSocket } from 'node:dgram';
import { createServer, isIPv6 } from 'node:net';
import type { Answer } from '#test/services/service-cluster.ts';
import type { Command } from './commands.ts';

type Serve = Extract<Command, { do: 'serve' }>;

const RECEIVE_BUFFER = 4 * 1024 * 1024;

/** Resolves when it accepts connections or datagrams. */
export function serve(command: Serve): Promise<void> {
  return command.protocol === 'TCP' ? serveTcp(command) : serveUdp(command);
}

/** First line of a connection and of each datagram that is returned. */
function greeting({ name, port }: Serve, client: string): string {
  const answer: Answer = { result: 'answered', backend: name, backendPort: port, client };
  return `${JSON.stringify(answer)}\n`;
}

function serveTcp(command: Serve): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    socket.write(greeting(command, socket.remoteAddress ?? ''));
    socket.pipe(socket);
  });
  server.on('error', reject);
  server.listen(
    { port: command.port, host: command.address, ipv6Only: true, backlog: 511 },
    resolve,
  );
  return promise;
}

function serveUdp(command: Serve): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const ipv6Only = isIPv6(command.address);
  const type = ipv6Only ? 'udp6' : 'udp4';
  const socket = createSocket({ type, ipv6Only, recvBufferSize: RECEIVE_BUFFER });
  socket.on('error', reject);
  socket.on('message', (message, { address, port }) =>
    socket.send(Buffer.concat([Buffer.from(greeting(command, address)), message]), port, address),
  );
  socket.bind(command.port, command.address, resolve);
  return promise;
}
