import { describe, FieldError } from '../field-error.ts';
import type { TextRule } from '../rules.ts';

const BYTES = 32;

/** Undefined if the text is not base64 of the 32 bytes of a public key. */
export function parseWireguardKey(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === BYTES && bytes.toString('base64') === text
    ? new Uint8Array(bytes)
    : undefined;
}

export function formatWireguardKey(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

export const wireguardKeyRule: TextRule = (text) => {
  if (parseWireguardKey(text) === undefined) {
    throw new FieldError(`${describe(text)} is not a key of WireGuard: base64 of 32 bytes`);
  }
  return text;
};
