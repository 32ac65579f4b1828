/** tcp-receive.ts <port>: accepts one connection and prints number and digest of the received bytes. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:net';

const server = createServer((socket) => {
  const hash = createHash('sha256');
  let bytes = 0;
  socket.on('data', (chunk) => {
    hash.update(chunk);
    bytes += chunk.length;
  });
  socket.on('end', () => {
    socket.end();
    server.close();
    process.stdout.write(`${JSON.stringify({ bytes, sha256: hash.digest('hex') })}\n`);
  });
});
server.listen(Number(process.argv[2]), () => process.stdout.write('"listening"\n'));
