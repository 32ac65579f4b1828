/** As a program: connects a port of loopback in a network namespace with a unix socket of the machine: <port> <socket>. */
import { connect, createServer, type NetConnectOpts, type Server } from 'node:net';

/** Passes on what it accepts. */
export function relayTo(target: NetConnectOpts): Server {
  return createServer((client) => {
    const server = connect(target);
    client.on('error', () => server.destroy()).on('close', () => server.destroy());
    server.on('error', () => client.destroy()).on('close', () => client.destroy());
    client.pipe(server).pipe(client);
  });
}

if (import.meta.main) {
  const [, , port, path] = process.argv;
  relayTo({ path: path! }).listen(Number(port), '127.0.0.1');
}
