/**
 * A DHCP server with a single lease for all clients, in the network namespace of its process.
 *
 *     node single-lease-dhcp-server.ts <its address> <seconds of a lease>
 *
 * Each line of its input is the lease, `{"address": "192.168.77.5/24", "router": "192.168.77.1"}`, or
 * `null`: then it sends DHCPNAK. Prints `ready` when it listens. It broadcasts its replies, so the
 * namespace needs a route for 255.255.255.255.
 */
import { createSocket } from 'node:dgram';
import { createInterface } from 'node:readline';

interface Lease {
  readonly address: string;
  readonly router?: string;
}

const [server = '', seconds = ''] = process.argv.slice(2);
const cookie = Buffer.from('63825363', 'hex');
const FIXED_LENGTH = 240;
const type = { discover: 1, offer: 2, request: 3, ack: 5, nak: 6 };
let lease: Lease | null = null;

function bytes(address: string): number[] {
  return address.split('.').map(Number);
}

function u32(value: number): number[] {
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
}

function typeOf(message: Buffer): number | undefined {
  for (let at = FIXED_LENGTH; at < message.length && message[at] !== 255; ) {
    if (message[at] === 53) return message[at + 2];
    at += message[at] === 0 ? 1 : 2 + (message[at + 1] ?? 0);
  }
  return undefined;
}

function replyTo(request: Buffer, kind: number, given: Lease | null): Buffer {
  const head = Buffer.alloc(FIXED_LENGTH);
  request.copy(head, 0, 0, 44);
  head[0] = 2;
  const options = [53, 1, kind, 54, 4, ...bytes(server)];
  if (given !== null) {
    const [address = '', length = ''] = given.address.split('/');
    head.set(bytes(address), 16);
    options.push(51, 4, ...u32(Number(seconds)));
    options.push(1, 4, ...u32((0xffff_ffff << (32 - Number(length))) >>> 0));
    if (given.router !== undefined) options.push(3, 4, ...bytes(given.router));
  }
  head.set(cookie, 236);
  return Buffer.concat([head, Buffer.from([...options, 255])]);
}

const socket = createSocket({ type: 'udp4', reuseAddr: true });
socket.on('message', (message) => {
  const kind = typeOf(message);
  const send = (what: number): void =>
    socket.send(replyTo(message, what, what === type.nak ? null : lease), 68, '255.255.255.255');
  if (kind === type.discover && lease !== null) send(type.offer);
  if (kind === type.request) send(lease === null ? type.nak : type.ack);
});
socket.bind(67, () => {
  socket.setBroadcast(true);
  process.stdout.write('ready\n');
});
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  lease = JSON.parse(line) as Lease | null;
});
lines.on('close', () => process.exit());
