/** Sends everything that it receives back, on the port of its argument; ends with its input. */
import { createServer } from 'node:net';

const server = createServer((socket) => {
  socket.on('error', () => socket.destroy());
  socket.pipe(socket);
});
server.listen(Number(process.argv[2]), () => console.log('{}'));
process.stdin.on('end', () => process.exit(0)).resume();
