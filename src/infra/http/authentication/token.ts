/** Tokens of users: JSON web tokens, signed with HS256, with the claims of the original. */
import { createHmac, timingSafeEqual } from 'node:crypto';

const ISSUER = 'cn-infra.ligato.io';
const HEADER = encoded({ alg: 'HS256', typ: 'JWT' });

export interface TokenClaims {
  /** Name of the user. */
  readonly aud: string;
  readonly iss: string;
  /** Seconds since 1970, with a fraction. */
  readonly iat: number;
  readonly exp: number;
}

/** @param now milliseconds since 1970 */
export function signToken(key: string, user: string, now: number, validMs: number): string {
  const claims: TokenClaims = {
    aud: user,
    iss: ISSUER,
    iat: now / 1_000,
    exp: (now + validMs) / 1_000,
  };
  const text = `${HEADER}.${encoded(claims)}`;
  return `${text}.${signature(key, text).toString('base64url')}`;
}

/**
 * The claims of a token that `signToken` has made with this key; they may have expired. The header has
 * to be the own one, so that a token cannot choose how it is verified.
 */
export function verifiedClaims(key: string, token: string): TokenClaims | undefined {
  const [header, payload = '', given = '', ...others] = token.split('.');
  if (header !== HEADER || others.length > 0) return undefined;
  const expected = signature(key, `${header}.${payload}`);
  const actual = Buffer.from(given, 'base64url');
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) return undefined;
  const claims: TokenClaims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  return claims.iss === ISSUER ? claims : undefined;
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function signature(key: string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
