/**
 * The program of the pods of `netctl test`: a server that tells its name, or a client that tries its probes and
 * leaves the results where kubelet reads them. It is part of netctl, so that the image of the agents has it.
 */
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { writeFileSync } from 'node:fs';
import { createServer, isIPv6, Socket } from 'node:net';
import type { Clock } from '#infra/clock/clock.ts';
import type { Outcome, Probe, ProbeResult } from './probe.ts';

const ATTEMPT_MS = 1_000;
const PAUSE_MS = 250;
/** Services and policies of new pods take a moment, on a busy node some seconds. */
const LIMIT_MS = 20_000;
/** Of what no answer is expected: a single lost packet proves nothing. */
const TRIES_FOR_SILENCE = 3;
/** After the name: several packets of full size, which a wrong MTU loses. */
const FILLER = Buffer.alloc(32 * 1024, '.');

/** @param words `serve <name> <port…>`, or `connect <file for the results> <JSON of the probes>` */
export async function runProber(
  words: readonly string[],
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const [task, first = '', ...rest] = words;
  if (task === 'serve') return await serve(first, rest.map(Number), signal);
  const probes = JSON.parse(rest[0] ?? '[]') as readonly Probe[];
  const results = await Promise.all(probes.map((probe) => resultOf(probe, clock)));
  writeFileSync(first, JSON.stringify(results));
}

async function serve(name: string, ports: readonly number[], signal: AbortSignal): Promise<void> {
  for (const port of ports) {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.write(`${name}\n`);
      socket.end(FILLER);
    });
    server.listen(port);
    const datagrams = createSocket({ type: 'udp6' });
    // Without IPv6 in the pod.
    datagrams.on('error', () => answerDatagrams(createSocket('udp4'), name, port));
    answerDatagrams(datagrams, name, port);
  }
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  process.exit(0);
}

function answerDatagrams(
  socket: ReturnType<typeof createSocket>,
  name: string,
  port: number,
): void {
  socket.on('message', (_, { address, port: from }) => socket.send(name, from, address));
  socket.bind(port);
}

async function resultOf(probe: Probe, clock: Clock): Promise<ProbeResult> {
  const end = clock.monotonic() + LIMIT_MS;
  for (let tries = 1; ; tries++) {
    const start = clock.monotonic();
    const outcome = await outcomeOf(probe, clock);
    const now = clock.monotonic();
    const isLast = probe.answers
      ? outcome === 'answered' || now >= end
      : outcome === 'answered' || tries >= TRIES_FOR_SILENCE;
    if (isLast) return [outcome, Number((now - start).toFixed(1))];
    await clock.sleep(PAUSE_MS);
  }
}

async function outcomeOf(probe: Probe, clock: Clock): Promise<Outcome> {
  let address: string;
  try {
    ({ address } = await lookup(probe.host));
  } catch {
    return 'unknown name';
  }
  return probe.protocol === 'TCP'
    ? await connect({ ...probe, host: address }, clock)
    : await ask({ ...probe, host: address }, clock);
}

async function connect({ host, port, by }: Probe, clock: Clock): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const socket = new Socket();
  const pieces: Buffer[] = [];
  let isConnected = false;
  const timer = clock.timer(ATTEMPT_MS, () => resolve(isConnected ? 'stalled' : 'silent'));
  socket.on('connect', () => {
    isConnected = true;
  });
  socket.on('data', (piece) => pieces.push(piece));
  socket.on('end', () => resolve(answerOf(Buffer.concat(pieces), by)));
  socket.on('error', () => resolve(isConnected ? 'stalled' : 'refused'));
  socket.connect(port, host);
  try {
    return await promise;
  } finally {
    timer.cancel();
    socket.destroy();
  }
}

function answerOf(bytes: Buffer, by: string): Outcome {
  const nameEnds = bytes.indexOf('\n');
  if (nameEnds < 0 || bytes.length < nameEnds + 1 + FILLER.length) return 'stalled';
  return bytes.subarray(0, nameEnds).toString().startsWith(by) ? 'answered' : 'wrong pod';
}

async function ask({ host, port, by }: Probe, clock: Clock): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
  const timer = clock.timer(ATTEMPT_MS, () => resolve('silent'));
  socket.on('message', (name) =>
    resolve(name.toString().startsWith(by) ? 'answered' : 'wrong pod'),
  );
  socket.on('error', () => resolve('refused'));
  // Connected: an answer of ICMP arrives as an error.
  socket.connect(port, host, () => socket.send('who are you?'));
  try {
    return await promise;
  } finally {
    timer.cancel();
    socket.close();
  }
}
