/**
 * A client that tries to take the main thread or the memory of an agent. It connects again when the
 * server closes a connection.
 * Usage: node attacker.ts <port> <JSON of an Attack>
 */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Attack } from './attack.ts';

const [port = '', text = ''] = process.argv.slice(2);
const attack: Attack = JSON.parse(text);
const { addresses, connections, kind, path, requests = 1, again = 10 } = attack;

const get = `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const post = (length: number) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

const huge = [
  `GET /${'a'.repeat(1_000_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  `GET ${path} HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(1_000_000)}\r\n\r\n`,
  `GET ${path} HTTP/1.1\r\nHost: a\r\n${'X: a\r\n'.repeat(100_000)}\r\n`,
  `GET ${path}?${'a=b&'.repeat(3_500)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  post(100_000_000) + '['.repeat(2_000_000),
  post(1_000_000) + '['.repeat(1_000_000),
  `${post(1_000_001)}[${'{},'.repeat(333_333)}0`,
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\n[\r\n'.repeat(300_000)}`,
];

const malformed = [
  'GET / HTTP/9.9\r\n\r\n',
  'GET\r\n\r\n',
  '\r\n'.repeat(100_000),
  '\0'.repeat(100_000),
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'GET / HTTP/1.1\r\nHost a\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  `POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\n`,
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n`,
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\n{"a"`,
  'GET /%ff%fe?%%% HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n',
  'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
];

let turn = 0;
const next = (texts: readonly string[]) => texts[turn++ % texts.length]!;

const begin: Record<Attack['kind'], (socket: Socket) => void> = {
  pipelined: (socket) => void socket.write(get.repeat(requests)),
  deaf: (socket) => {
    socket.pause();
    socket.write(get.repeat(requests));
  },
  idle: () => undefined,
  slow: (socket) => {
    const whole = turn++ % 2 === 0 ? get.replace('Host: a', `X: ${'a'.repeat(5_000)}`) : post(1e6);
    // A body begins at once, a head is sent byte by byte.
    let sent = whole.startsWith('POST') ? whole.length : 1;
    socket.write(whole.slice(0, sent));
    const timer = setInterval(() => socket.write(whole[sent++] ?? ' '), 200);
    socket.on('close', () => clearInterval(timer));
  },
  huge: (socket) => void socket.write(next(huge)),
  malformed: (socket) => {
    const bytes = turn % 4 === 0 ? randomBytes(50_000) : next(malformed);
    turn++;
    socket.end(bytes);
  },
};

function start(n: number): void {
  // 127.0.1.1 and so on: other machines, as far as the agent can tell
  const own =
    addresses === 0
      ? '127.0.0.1'
      : `127.0.${1 + Math.floor((n % addresses) / 250)}.${2 + ((n % addresses) % 250)}`;
  // They do not reach the loopback address, which the probes of kubelet use.
  const host = addresses === 0 ? '127.0.0.1' : '127.0.0.2';
  const socket = connect({ host, port: Number(port), localAddress: own }, () =>
    begin[kind](socket),
  );
  if (kind !== 'deaf') socket.resume();
  socket.on('error', () => undefined);
  socket.on('close', () => setTimeout(start, again, n));
}

for (let n = 0; n < connections; n++) start(n);
