/** Passwords of http.conf: as text, or as a bcrypt hash, which older files of the original have. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { HttpConfigError } from '../certificate.ts';

/** The work of a comparison doubles with each step; this one takes about a second. */
const MAX_COST = 14;

export type PasswordCheck = (given: string) => Promise<boolean>;

/** @throws HttpConfigError for a hash whose comparison takes too long */
export function passwordCheck(password: string, where: string): PasswordCheck {
  const [, cost] = /^\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{53}$/.exec(password) ?? [];
  if (cost === undefined) {
    const expected = digest(password);
    return async (given) => timingSafeEqual(digest(given), expected);
  }
  if (Number(cost) > MAX_COST)
    throw new HttpConfigError(
      `the hash of the password has cost ${Number(cost)}, at most ${MAX_COST} is accepted`,
      { where },
    );
  // The library knows the newest name only; the names differ for defects that other libraries had.
  const hash = password.replace('$2y$', '$2b$');
  return async (given) => {
    // Loaded when it is needed: few agents have such passwords.
    const { compare } = (await import('bcrypt')).default;
    return compare(given, hash);
  };
}

/** A hash of constant length, so that the time of a comparison does not depend on the text. */
export function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
