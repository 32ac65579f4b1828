/** TCP connections to servers of stations. */
import { createHash, randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Answer, Target } from '#test/services/service-cluster.ts';
import { answerOf, type Connection, LIMIT_MS, within } from './commands.ts';
import { Lines } from './lines.ts';

export async function openTcp({ address, port }: Target): Promise<Connection> {
  const socket = connect({ host: address, port, noDelay: true });
  const lines = new Lines(socket);
  const failure = Promise.withResolvers<Answer>();
  socket.on('error', (error) => {
    try {
      failure.resolve(answerOf(error));
    } catch (unexpected) {
      failure.reject(unexpected);
    }
  });
  // the error of a connection that was open only shows that it is broken
  failure.promise.catch(() => undefined);
  const greeting = lines
    .next()
    .then((line) => (line === undefined ? failure.promise : JSON.parse(line)));
  const answer: Answer = (await within(LIMIT_MS, greeting)) ?? { result: 'timeout' };
  if (answer.result !== 'answered') socket.destroy();
  return {
    answer,
    async check(limitMs = LIMIT_MS) {
      if (socket.destroyed) return false;
      const message = randomBytes(8).toString('hex');
      socket.write(`${message}\n`);
      return (await within(limitMs, lines.next())) === message;
    },
    close: () => socket.destroy(),
  };
}

/** A transfer that loses large packets stops permanently; a good one needs seconds. */
const TRANSFER_LIMIT_MS = 40_000;

/** Sends random bytes, which must return unchanged. */
export async function transfer({ address, port }: Target, megabytes: number): Promise<Answer> {
  const socket = connect({ host: address, port });
  try {
    const both = Promise.all([received(socket), sent(socket, megabytes)]);
    const done = await within(TRANSFER_LIMIT_MS, both);
    if (done === undefined) return { result: 'timeout' };
    const [{ greeting, digest }, expected] = done;
    if (digest !== expected) throw new Error('other bytes returned');
    return JSON.parse(greeting) as Answer;
  } finally {
    socket.destroy();
  }
}

async function sent(socket: Socket, megabytes: number): Promise<string> {
  const hash = createHash('sha256');
  const chunks = Readable.from(
    (function* () {
      for (let n = 0; n < 16 * megabytes; n++) {
        const chunk = randomBytes(65_536);
        hash.update(chunk);
        yield chunk;
      }
    })(),
  );
  await pipeline(chunks, socket, { end: false });
  socket.end();
  return hash.digest('hex');
}

/** The greeting and the digest of what follows it. */
async function received(
  socket: Socket,
): Promise<{ readonly greeting: string; readonly digest: string }> {
  const hash = createHash('sha256');
  let start = Buffer.alloc(0);
  let greeting: string | undefined;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    if (greeting !== undefined) {
      hash.update(chunk);
      continue;
    }
    start = Buffer.concat([start, chunk]);
    const end = start.indexOf('\n');
    if (end < 0) continue;
    greeting = start.subarray(0, end).toString();
    hash.update(start.subarray(end + 1));
  }
  return { greeting: greeting ?? '', digest: hash.digest('hex') };
}
