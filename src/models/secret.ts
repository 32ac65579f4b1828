/**
 * A text that only VPP and the datastore may have: the value of a field with `debug_redact` in its .proto.
 * It masks itself in JSON, in log lines and as a text, so documents, records, recordings and bundles have
 * the mask without doing anything for it. `reveal` is the only way to the text.
 */
import { createHmac, generateKeySync } from 'node:crypto';
import { inspect } from 'node:util';

/** Of this process and nowhere else: a mask cannot be compared with the masks of guessed texts. */
const maskKey = generateKeySync('hmac', { length: 256 });
const MASK = /^\*\*\*[0-9a-f]{16}$/;

export class Secret {
  static readonly none = new Secret('');

  readonly #text: string;
  /**
   * Stands for the text: equal for equal texts during the life of a process, so that values can be compared
   * by their fields, and a record shows that a secret has changed.
   */
  readonly mask: string;

  /** @param text a mask stands for itself: the value was read from a document or recording */
  constructor(text: string) {
    this.#text = text;
    this.mask = text === '' || MASK.test(text) ? text : maskOf(text);
    Object.freeze(this);
  }

  /** The text came from a document: the secret itself is unknown. */
  get isMask(): boolean {
    return MASK.test(this.#text);
  }

  reveal(): string {
    return this.#text;
  }

  toJSON(): string {
    return this.mask;
  }

  toString(): string {
    return this.mask;
  }

  [inspect.custom](): string {
    return this.mask;
  }
}

function maskOf(text: string): string {
  return `***${createHmac('sha256', maskKey).update(text).digest('hex').slice(0, 16)}`;
}

/** JSON data with the texts of its secrets: for VPP and the datastore only. */
export function revealed(json: unknown): unknown {
  if (json instanceof Secret) return json.reveal();
  if (Array.isArray(json)) return json.map(revealed);
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, revealed(value)]));
}
