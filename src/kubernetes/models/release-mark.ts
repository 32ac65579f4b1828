/**
 * The mark of a node ID that is about to be freed: white space after the JSON of its record. Every
 * reader of the record, the original agent too, reads the same value with and without it.
 */

/** Random bytes that a mark needs. */
export const RELEASE_MARK_BYTES = 32;
const MARK = new RegExp(`\\n[ \\t]{${RELEASE_MARK_BYTES}}$`);

/**
 * Adds a mark that no record had before: a record that has the same text later was not written in
 * between.
 * @param random RELEASE_MARK_BYTES random bytes
 */
export function withReleaseMark(text: string, random: Uint8Array): string {
  const bits = [...random].map((byte) => (byte & 1 ? '\t' : ' '));
  return `${withoutReleaseMark(text)}\n${bits.join('')}`;
}

export function hasReleaseMark(text: string): boolean {
  return MARK.test(text);
}

export function withoutReleaseMark(text: string): string {
  return text.replace(MARK, '');
}
