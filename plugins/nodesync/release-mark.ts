/**
 * The mark of a node ID that is about to be freed: white space after the JSON of its record. Every
 * reader of the record, the original agent too, reads the same value with and without it.
 */
import type { Random } from '#infra/clock/clock.ts';

const LENGTH = 32;
const MARK = new RegExp(`\\n[ \\t]{${LENGTH}}$`);

/**
 * Adds a mark that no record had before: a record that has the same text later was not written in
 * between.
 */
export function withReleaseMark(text: string, random: Random): string {
  const bits = [...random.bytes(LENGTH)].map((byte) => (byte & 1 ? '\t' : ' '));
  return `${withoutReleaseMark(text)}\n${bits.join('')}`;
}

export function hasReleaseMark(text: string): boolean {
  return MARK.test(text);
}

export function withoutReleaseMark(text: string): string {
  return text.replace(MARK, '');
}
