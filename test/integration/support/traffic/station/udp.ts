/** Datagrams to servers of stations. */
import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import type { Answer, Target } from '#test/services/service-cluster.ts';
import { answerOf, type Connection, LIMIT_MS, type ProbeReport, within } from './commands.ts';

/** A first datagram may be lost while VPP or a kernel asks for the address of a neighbor. */
const REPEAT_MS = 700;

/** All datagrams of a connection are sent from one port. */
export async function openUdp({ address, port, bytes }: Target): Promise<Connection> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  // the kernel ends a socket when its backend goes
  socket.on('error', () => undefined);
  socket.connect(port, address);
  const answer = await once(socket, 'connect').then(() => exchange(socket, bytes), answerOf);
  return {
    answer,
    async check() {
      const next = await exchange(socket, bytes).catch(() => undefined);
      return JSON.stringify(next) === JSON.stringify(answer);
    },
    close: () => socket.close(),
  };
}

/** Sends datagrams for a time, whether or not a network is there. */
export async function probe({ address, port }: Target, seconds: number): Promise<ProbeReport> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  const end = Date.now() + 1000 * seconds;
  let [sent, answered] = [0, 0];
  socket.on('message', () => answered++);
  // a reset by the receiver, or no route
  socket.on('error', () => undefined);
  while (Date.now() < end) {
    socket.send('probe\n', port, address, () => undefined);
    sent++;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  socket.close();
  return { sent, answered };
}

/** Time between two datagrams, and how long the port of each waits for an answer. */
const ATTEMPT_MS = 2;
const ANSWER_MS = 500;

/**
 * Sends datagrams until one is answered. Each has a port of its own: VPP keeps what it decided about the
 * first datagram of a port.
 * @returns when the answer came, in milliseconds since 1970
 */
export async function firstAnswer({ address, port }: Target): Promise<number> {
  let answeredAt: number | undefined;
  while (answeredAt === undefined) {
    const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
    socket.on('message', () => {
      answeredAt ??= Date.now();
    });
    socket.on('error', () => undefined);
    socket.send('probe\n', port, address, () => undefined);
    setTimeout(() => socket.close(), ANSWER_MS);
    await new Promise((resolve) => setTimeout(resolve, ATTEMPT_MS));
  }
  return answeredAt;
}

async function exchange(socket: Socket, bytes = 16): Promise<Answer> {
  const token = randomBytes(bytes / 2).toString('hex');
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const onMessage = (message: Buffer): void => {
    const [greeting = '', returned] = message.toString().split('\n');
    if (returned === token) resolve(JSON.parse(greeting) as Answer);
  };
  const onError = (error: NodeJS.ErrnoException): void => {
    try {
      resolve(answerOf(error));
    } catch (unexpected) {
      reject(unexpected);
    }
  };
  const send = (): void => socket.send(token, (error) => error && onError(error));
  socket.on('message', onMessage).on('error', onError);
  const timer = setInterval(send, REPEAT_MS);
  send();
  try {
    return (await within(LIMIT_MS, promise)) ?? { result: 'timeout' };
  } finally {
    clearInterval(timer);
    socket.off('message', onMessage).off('error', onError);
  }
}
