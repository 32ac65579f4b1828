/**
 * Identifies the callers of the endpoint: by client certificates, and by users with a password in each
 * request, or users with a token and permissions. The probes need none of them, a login no user.
 */
import { timingSafeEqual } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../clock/clock.ts';
import type { Logger } from '../../log/log.ts';
import type { HttpConfig } from '../config.ts';
import { TOKEN_COOKIE } from '../openapi.ts';
import type { Route } from '../route.ts';
import { FailedAttempts, TOO_MANY_FAILURES } from './failed-attempts.ts';
import { digest } from './password.ts';
import { isPermitted } from './permissions.ts';
import type { TokenUsers } from './token-users.ts';

/** A client that retries must not fill the log. */
const LOG_INTERVAL_MS = 60_000;
const UNAUTHORIZED = 'Unauthorized';

interface BasicUser {
  readonly name: string;
  /** Of `user:password`. */
  readonly digest: Buffer;
}

export class Authentication {
  readonly #basic: readonly BasicUser[];
  readonly #needsCertificate: boolean;
  readonly #tokens: TokenUsers | undefined;
  readonly failures: FailedAttempts;
  readonly #clock: Clock;
  readonly #log: Logger;
  #refusals = 0;
  #lastLog = Number.NEGATIVE_INFINITY;

  constructor(config: HttpConfig, tokens: TokenUsers | undefined, clock: Clock, log: Logger) {
    const basic = tokens ? [] : config['client-basic-auth'];
    this.#basic = basic.map((text) => ({ name: text.split(':')[0]!, digest: digest(text) }));
    this.#needsCertificate = config['client-cert-files'].length > 0;
    this.#tokens = tokens;
    this.failures = new FailedAttempts(clock);
    this.#clock = clock;
    this.#log = log;
  }

  /** Whether every client of the endpoint has to identify itself. */
  get isRequired(): boolean {
    return this.#basic.length > 0 || this.#needsCertificate || this.#tokens !== undefined;
  }

  /**
   * @param route undefined when no route has the path and method of the request
   * @returns the name of the user, empty if users are not needed; undefined when the request was
   * refused: the reply is sent then
   */
  async identify(
    request: FastifyRequest,
    reply: FastifyReply,
    route: Route | undefined,
  ): Promise<string | undefined> {
    if (this.#needsCertificate && !(request.raw.socket as TLSSocket).authorized) {
      this.#report(request, 'valid client certificate');
      await reply.code(401).send('a client certificate is required\n');
      return undefined;
    }
    if (route?.isLogin || route?.isPublic) return '';
    if (!this.#tokens && this.#basic.length === 0) return '';
    if (!hasCredentials(request)) {
      await this.#refuse(request, reply, this.#tokens ? 'authorization required' : UNAUTHORIZED);
      return undefined;
    }
    if (this.failures.isBlocked(request.ip)) {
      await reply.code(429).header('Retry-After', 1).send(TOO_MANY_FAILURES);
      return undefined;
    }
    if (this.#tokens) return this.#tokenUser(this.#tokens, request, reply, route);
    const user = basicUser(request, this.#basic);
    if (user !== undefined) return user;
    await this.failures.delay(request.ip);
    await this.#refuse(request, reply, UNAUTHORIZED);
    return undefined;
  }

  async #tokenUser(
    tokens: TokenUsers,
    request: FastifyRequest,
    reply: FastifyReply,
    route: Route | undefined,
  ): Promise<string | undefined> {
    const user = tokens.userOf(tokenOf(request));
    if (typeof user === 'string') {
      await this.failures.delay(request.ip);
      await this.#refuse(request, reply, user);
      return undefined;
    }
    if (!isPermitted(user.permissions, route)) {
      this.#report(request, `permission of the user ${user.name}`);
      await reply.code(403).send('auth: permission denied\n');
      return undefined;
    }
    return user.name;
  }

  async #refuse(request: FastifyRequest, reply: FastifyReply, text: string): Promise<void> {
    this.#report(request, 'valid credentials');
    const scheme = this.#tokens ? 'Bearer' : 'Basic realm="contiv-agent"';
    await reply.code(401).header('WWW-Authenticate', scheme).send(`${text}\n`);
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

function basicUser(request: FastifyRequest, users: readonly BasicUser[]): string | undefined {
  const [scheme, credentials = ''] = (request.headers.authorization ?? '').split(' ');
  if (scheme?.toLowerCase() !== 'basic') return undefined;
  const given = digest(Buffer.from(credentials, 'base64').toString());
  return users.filter((user) => timingSafeEqual(user.digest, given))[0]?.name;
}

/** Whether the request tries any: without, there is nothing to guess. */
function hasCredentials(request: FastifyRequest): boolean {
  return request.headers.authorization !== undefined || cookieOf(request) !== undefined;
}

/** The credentials of a client as a header, also those of a cookie; undefined: it has none. */
export function authorizationOf(request: FastifyRequest): string | undefined {
  const cookie = cookieOf(request);
  return request.headers.authorization ?? (cookie === undefined ? undefined : `Bearer ${cookie}`);
}

/** The token of the header, or of the cookie that a login in a browser has set; empty: there is none. */
function tokenOf(request: FastifyRequest): string {
  const { headers } = request;
  if (headers.authorization !== undefined) {
    const [scheme, token = '', ...others] = headers.authorization.split(' ');
    return scheme?.toLowerCase() === 'bearer' && others.length === 0 ? token : '';
  }
  return cookieOf(request) ?? '';
}

function cookieOf({ headers }: FastifyRequest): string | undefined {
  const cookies = (headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
  return cookies
    .find((cookie) => cookie.startsWith(`${TOKEN_COOKIE}=`))
    ?.slice(TOKEN_COOKIE.length + 1);
}
