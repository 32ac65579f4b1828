/** Malformed and excessive requests to a health check port; other clients are served meanwhile. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import type { OpenPort } from '#plugins/service/health-check/health-check-port.ts';
import { healthReply } from '#plugins/service/health-check/health-reply.ts';
import { httpHealthCheckPort } from '#plugins/service/health-check/http-health-check-port.ts';

const REQUEST = 'GET /healthz HTTP/1.1\r\nHost: node\r\n\r\n';

let number = 0;
let open: OpenPort;
const sockets: Socket[] = [];

before(async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const address = server.address();
  number = typeof address === 'object' && address !== null ? address.port : 0;
  await new Promise((resolve) => server.close(resolve));
  open = await httpHealthCheckPort(systemClock).open(number, () =>
    healthReply('shop/web', 1, true),
  );
});
after(async () => {
  for (const socket of sockets) socket.destroy();
  await open.close();
});

async function client(): Promise<Socket> {
  const socket = connect(number, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** All that the server sends until it closes the connection. */
async function received(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (data) => (text += data));
  // an error may precede it, which `once` would throw
  await new Promise<void>((resolve) => socket.on('close', () => resolve()));
  return text;
}

async function assertServed(): Promise<void> {
  const reply = await fetch(`http://127.0.0.1:${number}/`);
  assert.equal(reply.status, 200);
  await reply.text();
}

for (const [what, bytes] of [
  ['random bytes', Buffer.from(Array.from({ length: 512 }, (_, at) => (at * 151 + 7) & 255))],
  ['a TLS handshake', Buffer.from('16030100a5010000a10303', 'hex')],
  ['an endless header', `GET / HTTP/1.1\r\nX: ${'x'.repeat(200_000)}`],
  ['a wrong length', 'POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n'],
  ['an unknown method', 'STEAL / HTTP/1.1\r\n\r\n'],
] as const)
  test(`${what}: the connection is closed, and others are served`, async () => {
    const socket = await client();
    const reply = received(socket);
    socket.write(bytes);
    // The port closes while the client still sends; then its kernel discards the reply.
    const expected = bytes.length > 16_384 ? /^(HTTP\/1\.1 400 |$)/ : /^HTTP\/1\.1 400 /;
    assert.match(await reply, expected);
    await assertServed();
  });

test('many requests ahead of their replies: the connection is closed, and others are served', async () => {
  const socket = await client();
  const reply = received(socket);
  socket.write(REQUEST.repeat(5_000));
  const replies = (await reply).split('HTTP/1.1 200').length - 1;
  assert.ok(replies <= 64, `${replies} replies`);
  await assertServed();
});

test('many slow clients: others are served', async () => {
  for (const slow of await Promise.all(Array.from({ length: 300 }, client)))
    slow.write(REQUEST.slice(0, 20));
  await assertServed();
});

test('a client that reads no reply: others are served', async () => {
  const socket = await client();
  socket.pause();
  for (let i = 0; i < 50; i++) socket.write(REQUEST);
  await assertServed();
});

test('clients that go in the middle of a request: others are served', async () => {
  for (const gone of await Promise.all(Array.from({ length: 50 }, client))) {
    gone.write('POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\nhalf');
    gone.resetAndDestroy();
  }
  await assertServed();
});
