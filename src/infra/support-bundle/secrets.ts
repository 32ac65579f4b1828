/**
 * Removes secrets from a support bundle. The configuration files say what is secret: values whose schema
 * has `isSecret`, values with a telling name, and texts under keys that no schema knows, because they may
 * be a misspelled password. What they contain is masked in all other parts, too.
 */
import { Transform } from 'node:stream';
import type { TSchema } from 'typebox';
import Value from 'typebox/value';

const REMOVED = '<removed>';
const SECRET_NAME = /pass|secret|token|auth|credential|private|sign|cert|key|psk|community/i;
/** Keys that name a file: their paths are no secret. */
const FILE_NAME = /files?$|path$|socket$|endpoints?$/i;
const PLAIN_PATH = /^\/[\w./@-]{0,254}$/;
const PEM = /-----BEGIN [A-Z ]+-----[\s\S]*?(-----END [A-Z ]+-----|$)/g;
/** User and password in a URL; the password is masked. */
const URL_PASSWORD = /(\/\/[^\s/:@"'\\]{0,100}:)([^\s"'\\,]{1,200})(?=@)/g;
/** The same without a scheme, as a whole text. */
const ADDRESS_PASSWORD = /^([^\s/:@"'\\]{0,100}:)([^\s"'\\,/][^\s"'\\,]*)(?=@)/;

/** Shorter texts are masked in the configuration only: elsewhere they are everywhere. */
const MIN_LENGTH = 6;
const MIN_UNKNOWN = 12;
/** Longest match of the patterns: a part of the stream that may be the begin of one waits for the rest. */
const MIN_CARRY = 512;

interface SchemaNode {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  readonly isSecret?: boolean;
}

export class Secrets {
  readonly #texts = new Set<string>();

  /** The value without its secrets, which are masked from now on. @param schema undefined: unknown keys */
  withoutSecrets(value: unknown, schema: TSchema | undefined, name = ''): unknown {
    const node = schema as SchemaNode | undefined;
    if (node?.isSecret || this.#isSecretName(name, value)) return this.#removed(value);
    if (Array.isArray(value))
      return value.map((item) => this.withoutSecrets(item, node?.items, name));
    if (typeof value === 'object' && value !== null) {
      const known = new Map(
        Object.entries(node?.properties ?? {}).map(([key, inner]) => [key.toLowerCase(), inner]),
      );
      return Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [
          key,
          this.withoutSecrets(inner, known.get(key.toLowerCase()), key),
        ]),
      );
    }
    if (typeof value !== 'string' && (schema !== undefined || typeof value !== 'number'))
      return value;
    // A text that the schema rejects is in the wrong place.
    const isKnown = schema !== undefined && Value.Check(schema, value);
    if (isKnown) return typeof value === 'string' ? this.#cleanText(value) : value;
    // Not every word under a key that is not known is a secret: a short one would be masked everywhere.
    return String(value).length >= MIN_UNKNOWN ? this.#removed(value) : REMOVED;
  }

  /** Masks the secrets of a stream of text; as many bytes as before. */
  mask(): Transform {
    const clean = this.#cleaner();
    const longest = Math.max(MIN_CARRY, ...[...this.#texts].map((text) => text.length));
    let carry = '';
    return new Transform({
      transform(chunk: Buffer, _encoding, done) {
        // One character a byte: a character of several bytes may be divided between two chunks.
        const text = clean(carry + chunk.toString('latin1'));
        const end = Math.max(0, text.length - longest);
        carry = text.slice(end);
        done(undefined, Buffer.from(text.slice(0, end), 'latin1'));
      },
      flush(done) {
        done(undefined, Buffer.from(clean(carry), 'latin1'));
      },
    });
  }

  /** Masks the secrets of a text. */
  masked(text: string): string {
    return Buffer.from(this.#cleaner()(Buffer.from(text).toString('latin1')), 'latin1').toString();
  }

  #cleaner(): (text: string) => string {
    const pattern = this.#pattern();
    return (text) =>
      (pattern ? text.replace(pattern, stars) : text).replace(
        URL_PASSWORD,
        (_all, before: string, password: string) => before + stars(password),
      );
  }

  #isSecretName(name: string, value: unknown): boolean {
    if (!SECRET_NAME.test(name) || typeof value === 'boolean') return false;
    if (!FILE_NAME.test(name)) return true;
    const texts = Array.isArray(value) ? value : [value];
    return !texts.every(
      (text) => text === '' || (typeof text === 'string' && PLAIN_PATH.test(text)),
    );
  }

  #removed(value: unknown): unknown {
    if (value === '' || (Array.isArray(value) && value.length === 0)) return value;
    this.#remember(value);
    return REMOVED;
  }

  #cleanText(text: string): string {
    const password = (_all: string, before: string, found: string) => before + this.#removed(found);
    return text
      .replace(PEM, (found) => String(this.#removed(found)))
      .replace(URL_PASSWORD, password)
      .replace(ADDRESS_PASSWORD, password);
  }

  #remember(value: unknown): void {
    if (Array.isArray(value)) for (const item of value) this.#remember(item);
    else if (typeof value === 'object' && value !== null) this.#remember(Object.values(value));
    else if (typeof value === 'string' || typeof value === 'number') {
      const text = String(value);
      const password = text.slice(text.indexOf(':') + 1);
      const basic = Buffer.from(text).toString('base64').replace(/=+$/, '');
      const spellings = [text, password, basic, ...text.split('\n')];
      for (const one of spellings)
        for (const spelling of [one, JSON.stringify(one).slice(1, -1), encodeURIComponent(one)])
          if (spelling.length >= MIN_LENGTH)
            this.#texts.add(Buffer.from(spelling).toString('latin1'));
    }
  }

  #pattern(): RegExp | undefined {
    if (this.#texts.size === 0) return undefined;
    // the longest first: one may be a part of another
    const texts = [...this.#texts].sort((a, b) => b.length - a.length);
    return new RegExp(
      texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'),
      'g',
    );
  }
}

function stars(text: string): string {
  return '*'.repeat(text.length);
}
