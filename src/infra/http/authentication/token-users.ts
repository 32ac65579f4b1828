/** Users that log in with a password and get a token, which ends after a time or with a logout. */
import type { Clock } from '../../clock/clock.ts';
import { durationMs } from '../../config/duration.ts';
import { Admission } from '../admission.ts';
import { HttpConfigError } from '../certificate.ts';
import type { HttpConfig } from '../config.ts';
import { type PasswordCheck, passwordCheck } from './password.ts';
import { signToken, verifiedClaims } from './token.ts';

/** Of RFC 7518 for HS256. */
const MIN_KEY_BYTES = 32;
const DEFAULT_EXPIRATION_MS = 3_600_000;

export interface TokenUser {
  readonly name: string;
  readonly permissions: readonly string[];
}

interface StoredUser extends TokenUser {
  readonly check: PasswordCheck;
  /** Tokens that were issued until then are not accepted; milliseconds since 1970. */
  notBefore: number;
}

export class TokenUsers {
  readonly #users: ReadonlyMap<string, StoredUser>;
  /** Stands for users that do not exist, so that the time of a login does not tell them. */
  readonly #decoy: PasswordCheck;
  readonly #key: string;
  readonly #clock: Clock;
  /** A hash is compared on a thread of Node.js; files and names need these threads, too. */
  readonly #logins: Admission;
  readonly validMs: number;

  /** @throws HttpConfigError: there is no default user and no default key */
  constructor(config: HttpConfig, clock: Clock) {
    this.#key = keyOf(config);
    this.#clock = clock;
    this.#logins = new Admission(clock, 1);
    this.validMs = durationMs(config['token-expiration']) || DEFAULT_EXPIRATION_MS;
    // Logouts are not stored: a token of an earlier start may be one that was logged out.
    const notBefore = clock.now();
    const users = new Map<string, StoredUser>();
    for (const { name, password, password_hash: hash, permissions } of config.users) {
      const where = `users: ${name}`;
      if (users.has(name)) throw new HttpConfigError('this user is given twice', { where });
      if (Boolean(password) === Boolean(hash))
        throw new HttpConfigError('requires either password or password_hash', { where });
      const check = passwordCheck(password || hash, where);
      users.set(name, { name, permissions, check, notBefore });
    }
    const [first] = users.values();
    if (!first) throw new HttpConfigError('enable-token-auth requires users: there is no default');
    this.#decoy = first.check;
    this.#users = users;
  }

  /**
   * @returns a token; undefined for an unknown user and for a wrong password
   * @throws HttpOverloadError when too many logins wait
   */
  async login(name: string, password: string, address: string): Promise<string | undefined> {
    const leave = await this.#logins.enter({ address, giveUp: () => false });
    try {
      const user = this.#users.get(name);
      const isRight = await (user?.check ?? this.#decoy)(password);
      if (!user || !isRight) return undefined;
      return signToken(this.#key, name, this.#clock.now(), this.validMs);
    } finally {
      leave();
    }
  }

  /** @returns why the token is not accepted */
  userOf(token: string): TokenUser | string {
    const claims = verifiedClaims(this.#key, token);
    const user = claims && this.#users.get(claims.aud);
    if (!claims || !user) return 'auth: invalid auth token';
    if (claims.exp * 1_000 <= this.#clock.now()) return 'auth: token has expired';
    if (claims.iat * 1_000 <= user.notBefore) return 'auth: user has logged out';
    return user;
  }

  /** Ends all tokens of the user. @returns whether the user exists */
  logout(name: string): boolean {
    const user = this.#users.get(name);
    if (user) user.notBefore = this.#clock.now();
    return user !== undefined;
  }
}

function keyOf(config: HttpConfig): string {
  const key = config['sign-key'] || config['token-signature'];
  if (Buffer.byteLength(key) >= MIN_KEY_BYTES) return key;
  throw new HttpConfigError(
    key === ''
      ? 'enable-token-auth requires sign-key: there is no default'
      : `sign-key has to be at least ${MIN_KEY_BYTES} bytes long, as HS256 requires`,
  );
}
