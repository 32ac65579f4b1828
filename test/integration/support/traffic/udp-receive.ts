/**
 * udp-receive.ts <port>: receives numbered packets until its input ends, then prints the missing
 * numbers below the highest one.
 */
import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';

const port = Number(process.argv[2]);
const seen = new Set<number>();
let highest = -1;
let duplicates = 0;
let lastAt = 0;
let longestGapMs = 0;
const socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 });
const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
socket.on('message', (packet) => {
  const number = packet.readUInt32BE();
  const now = performance.now();
  if (seen.size === 0) print('receiving');
  else longestGapMs = Math.max(longestGapMs, Math.round(now - lastAt));
  lastAt = now;
  if (seen.has(number)) duplicates++;
  seen.add(number);
  highest = Math.max(highest, number);
});
socket.bind(port, () => print('listening'));
process.stdin.on('end', () => {
  const missing = Array.from({ length: highest + 1 }, (_, number) => number)
    .filter((number) => !seen.has(number))
    .slice(0, 20);
  print({ received: seen.size, missing, duplicates, longestGapMs, droppedAtSocket: drops() });
  socket.close();
});
process.stdin.resume();

/** Drops of this socket: last column of its line in /proc/net/udp. */
function drops(): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const line = readFileSync('/proc/net/udp', 'utf8')
    .split('\n')
    .find((text) => text.trim().split(/\s+/)[1]?.endsWith(local));
  return Number(line?.trim().split(/\s+/).at(-1) ?? 0);
}
