/** Requests of a support bundle to a running agent, on its unix socket. */
import { type IncomingMessage, request } from 'node:http';
import type { Readable } from 'node:stream';
import type { Clock } from '#infra/clock/clock.ts';
import { statusText } from '#infra/http/status-text.ts';

/** Longest pause of a reply. */
const SILENCE_MS = 20_000;

/** The reply of a status that is not an error, or of one that has its own meaning. */
export async function getStream(
  socketPath: string,
  path: string,
  signal: AbortSignal,
  clock: Clock,
): Promise<Readable> {
  return await send(socketPath, 'GET', path, undefined, signal, clock);
}

export async function getJson(
  socketPath: string,
  path: string,
  signal: AbortSignal,
  clock: Clock,
): Promise<unknown> {
  return await jsonOf(await send(socketPath, 'GET', path, undefined, signal, clock));
}

export async function postJson(
  socketPath: string,
  path: string,
  body: object,
  signal: AbortSignal,
  clock: Clock,
): Promise<unknown> {
  return await jsonOf(await send(socketPath, 'POST', path, JSON.stringify(body), signal, clock));
}

async function jsonOf(reply: Readable): Promise<unknown> {
  return JSON.parse((await reply.setEncoding('utf8').toArray()).join(''));
}

/** Probes have status 500 when something is wrong, and their document says what. */
function hasDocument(path: string, { statusCode = 0 }: IncomingMessage): boolean {
  return statusCode < 400 || /^\/(liveness|readiness)$/.test(path);
}

async function send(
  socketPath: string,
  method: 'GET' | 'POST',
  path: string,
  body: string | undefined,
  signal: AbortSignal,
  clock: Clock,
): Promise<Readable> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = {
    host: 'agent',
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const sent = request({ socketPath, method, path, headers, signal }, resolve);
  const silence = clock.timer(SILENCE_MS, () =>
    sent.destroy(new Error(`no reply in ${SILENCE_MS / 1000} s`)),
  );
  sent.on('error', reject);
  sent.end(body);
  try {
    const reply = await promise;
    if (hasDocument(path, reply)) return reply;
    const text = (await reply.setEncoding('utf8').toArray()).join('');
    throw new Error(statusText(reply.statusCode ?? 0, text));
  } finally {
    silence.cancel();
  }
}
