/**
 * Tags: how VPP keeps the name of what is ours, in 64 bytes with the closing zero. A longer name is
 * cut and ends in a hash of the whole: the same name makes the same tag after a restart, and which
 * name stands behind a tag is found among the names that are wanted or known.
 */
import { createHash } from 'node:crypto';
import { TAG_LENGTH } from './limits.ts';

const MARK = '~';
const HASH_DIGITS = 16;

/** @param room bytes that the tag may take */
export function tagOf(name: string, room = TAG_LENGTH): string {
  if (fits(name, room)) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_DIGITS);
  const kept = room - HASH_DIGITS - MARK.length;
  // no half of a character: what does not decode is left out
  const head = new TextDecoder().decode(Buffer.from(name).subarray(0, kept), { stream: true });
  return `${head}${MARK}${hash}`;
}

/**
 * Names by tag.
 * @param room as the tags were made with
 * @returns for the tag of a name that nobody knows the tag itself: there is nothing better to call
 *   it by while it is removed
 */
export function tagToName(names: Iterable<string>, room = TAG_LENGTH): (tag: string) => string {
  const long = new Map<string, string>();
  for (const name of names) if (!fits(name, room)) long.set(tagOf(name, room), name);
  return (tag) => long.get(tag) ?? tag;
}

function fits(name: string, room: number): boolean {
  return Buffer.byteLength(name) <= room;
}
