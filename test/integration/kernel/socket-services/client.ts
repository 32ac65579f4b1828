/**
 * A process in a control group and a network namespace of the test: servers that answer with their own address, and
 * sockets that ask. It takes requests from its parent, one at a time.
 */

import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer, isIPv6 } from 'node:net';

export interface Place {
  readonly address: string;
  readonly port: number;
}

export type Request =
  | { readonly kind: 'serve'; readonly at: Place }
  | { readonly kind: 'connect'; readonly to: Place }
  /** Waits for an answer to its first packet, and closes the socket. */
  | { readonly kind: 'give-up'; readonly to: Place; readonly afterMs: number }
  /** Own address of a connected stream. */
  | { readonly kind: 'source'; readonly to: Place; readonly from?: string }
  /** A datagram of a socket with this name, which is made with the first. */
  | { readonly kind: 'send'; readonly socket: string; readonly to: Place; readonly family: 4 | 6 }
  /** A datagram of a socket with this name, which is connected with the first, and again after its end. */
  | { readonly kind: 'send-connected'; readonly socket: string; readonly to: Place };

export interface Answer {
  /** Address of the server, by itself; undefined: there was none. */
  readonly server?: string;
  /** From whom the answer is, as the socket says. */
  readonly peer?: string;
  readonly source?: string;
  /** Code of the error. */
  readonly error?: string;
}

const text = ({ address, port }: Place): string => `${address} ${port}`;
/** For datagrams without an answer. */
const LIMIT_MS = 500;
const sockets = new Map<string, DatagramSocket>();

async function serve(at: Place): Promise<Answer> {
  const streams = createServer((socket) => socket.end(text(at)));
  streams.listen(at.port, at.address);
  await once(streams, 'listening');
  const datagrams = createSocket(isIPv6(at.address) ? 'udp6' : 'udp4');
  datagrams.on('message', (_bytes, from) => datagrams.send(text(at), from.port, from.address));
  datagrams.bind(at.port, at.address);
  await once(datagrams, 'listening');
  return {};
}

function ask(to: Place): Promise<Answer> {
  return new Promise((resolve) => {
    const socket = connect(to.port, to.address);
    let server = '';
    let peer = '';
    socket.on('connect', () => {
      peer = text({ address: socket.remoteAddress!, port: socket.remotePort! });
    });
    socket.on('data', (bytes) => {
      server += String(bytes);
    });
    socket.on('end', () => resolve({ server, peer }));
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve({ error: String(code) }));
  });
}

async function giveUp(to: Place, afterMs: number): Promise<Answer> {
  const socket = connect(to.port, to.address);
  socket.on('error', () => undefined);
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  socket.destroy();
  return {};
}

async function sourceOf(to: Place, from?: string): Promise<Answer> {
  const socket = connect({ port: to.port, host: to.address, localAddress: from });
  await once(socket, 'connect');
  const source = String(socket.localAddress);
  socket.resume();
  await once(socket, 'close');
  return { source };
}

async function send(name: string, to: Place, family: 4 | 6): Promise<Answer> {
  let socket = sockets.get(name);
  if (!socket) {
    socket = createSocket(family === 4 ? 'udp4' : 'udp6');
    sockets.set(name, socket);
    socket.bind();
    await once(socket, 'listening');
  }
  return await exchange(socket, (done) => socket.send('?', to.port, to.address, done));
}

async function sendConnected(name: string, to: Place): Promise<Answer> {
  let socket = sockets.get(name);
  try {
    if (!socket) {
      socket = createSocket(isIPv6(to.address) ? 'udp6' : 'udp4');
      sockets.set(name, socket);
      // the kernel ends it while it waits
      socket.on('error', () => end(name));
      socket.connect(to.port, to.address);
      await once(socket, 'connect');
    }
    const connected = socket;
    const { address, port } = connected.remoteAddress();
    const answer = await exchange(connected, (done) => connected.send('?', done));
    if (answer.error !== undefined) end(name);
    return answer.peer === undefined || answer.peer === text({ address, port })
      ? answer
      : { error: 'two peers' };
  } catch (thrown) {
    end(name);
    return { error: String((thrown as NodeJS.ErrnoException).code) };
  }
}

function end(name: string): void {
  sockets.get(name)?.close();
  sockets.delete(name);
}

function exchange(
  socket: DatagramSocket,
  begin: (done: (error: Error | null) => void) => void,
): Promise<Answer> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => finish({}), LIMIT_MS);
    const finish = (answer: Answer): void => {
      clearTimeout(timer);
      socket.off('message', receive).off('error', fail);
      resolve(answer);
    };
    const fail = (error: Error): void =>
      finish({ error: String((error as NodeJS.ErrnoException).code) });
    const receive = (bytes: Buffer, { address, port }: Place): void =>
      finish({ server: String(bytes), peer: text({ address, port }) });
    socket.on('message', receive);
    socket.on('error', fail);
    begin((error) => {
      if (error) fail(error);
    });
  });
}

function answer(request: Request): Promise<Answer> {
  switch (request.kind) {
    case 'serve':
      return serve(request.at);
    case 'connect':
      return ask(request.to);
    case 'give-up':
      return giveUp(request.to, request.afterMs);
    case 'source':
      return sourceOf(request.to, request.from);
    case 'send':
      return send(request.socket, request.to, request.family);
    case 'send-connected':
      return sendConnected(request.socket, request.to);
  }
}

const [, , group] = process.argv;
writeFileSync(`${group}/cgroup.procs`, String(process.pid));
process.on('message', async (request: Request) => {
  process.send!(await answer(request));
});
process.on('disconnect', () => process.exit());
process.send!({});
