/** Credentials and client certificates of the endpoint. The probes need neither. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock/clock.ts';
import type { Logger } from '../log/log.ts';
import type { HttpConfig } from './config.ts';

/** A client that retries must not fill the log. */
const LOG_INTERVAL_MS = 60_000;

export class Authentication {
  readonly #users: readonly Buffer[];
  readonly #needsCertificate: boolean;
  readonly #clock: Clock;
  readonly #log: Logger;
  #refusals = 0;
  #lastLog = Number.NEGATIVE_INFINITY;

  constructor(config: HttpConfig, clock: Clock, log: Logger) {
    this.#users = config['client-basic-auth'].map(digest);
    this.#needsCertificate = config['client-cert-files'].length > 0;
    this.#clock = clock;
    this.#log = log;
  }

  /** Whether every client of the endpoint has to identify itself. */
  get isRequired(): boolean {
    return this.#users.length > 0 || this.#needsCertificate;
  }

  /** @returns whether the request was refused: the reply is sent then */
  async refuse(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const socket = request.raw.socket as TLSSocket;
    if (this.#needsCertificate && !socket.authorized) {
      this.#report(request, 'valid client certificate');
      await reply.code(401).send('a client certificate is required\n');
      return true;
    }
    if (this.#users.length > 0 && !isKnown(request, this.#users)) {
      this.#report(request, 'valid credentials');
      await reply.code(401).header('WWW-Authenticate', 'Basic').send('Unauthorized\n');
      return true;
    }
    return false;
  }

  #report(request: FastifyRequest, missing: string): void {
    this.#refusals++;
    const now = this.#clock.monotonic();
    if (now - this.#lastLog < LOG_INTERVAL_MS) return;
    this.#lastLog = now;
    this.#log.warn(
      { url: request.url, from: request.ip, refused: this.#refusals },
      `REST request without ${missing}`,
    );
    this.#refusals = 0;
  }
}

/** A hash of constant length, so that the time of a comparison does not depend on the text. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function isKnown(request: FastifyRequest, users: readonly Buffer[]): boolean {
  const [scheme, credentials = ''] = (request.headers.authorization ?? '').split(' ');
  if (scheme?.toLowerCase() !== 'basic') return false;
  const given = digest(Buffer.from(credentials, 'base64').toString());
  return users.filter((user) => timingSafeEqual(user, given)).length > 0;
}
