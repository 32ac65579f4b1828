/** Whether VPP can compute the cipher of WireGuard: crypto engines are parts that it may lack. */
import { stripVTControlCharacters } from 'node:util';

/** VPP's engine `native` does not have it. */
export const CIPHER = 'chacha20-poly1305';

/**
 * @param handlers reply of `show crypto handlers`: no message reports it. `*` marks the engine in use, in the line of the cipher
 *   and, by release, in the indented ones below.
 * @returns true in a format that is not known: missing sessions tell
 */
export function hasCipher(handlers: string): boolean {
  const plain = stripVTControlCharacters(handlers).replaceAll('\r', '');
  const [lines] = new RegExp(`^${CIPHER}(?!-).*(\\n\\s.*)*`, 'm').exec(plain) ?? ['*'];
  return lines.includes('*');
}
