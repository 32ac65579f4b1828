/**
 * Tags store the names of managed objects in VPP, in 64 bytes with the terminating zero. A longer name
 * is cut and ends in a hash of the whole name. The same name has the same tag after a restart; the name
 * of a tag is looked up among the names that are desired or known.
 */
import { createHash } from 'node:crypto';
import { TAG_LENGTH } from './limits.ts';

const MARK = '~';
const HASH_DIGITS = 16;

/** @param room maximum length of the tag in bytes */
export function tagOf(name: string, room = TAG_LENGTH): string {
  if (fits(name, room)) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_DIGITS);
  const kept = room - HASH_DIGITS - MARK.length;
  // an incomplete character at the cut is dropped
  const head = new TextDecoder().decode(Buffer.from(name).subarray(0, kept), { stream: true });
  return `${head}${MARK}${hash}`;
}

/**
 * Decodes tags.
 * @param room with which the tags were encoded
 * @returns the name of a tag; the tag itself if the name is unknown, so that the orphan has a name while
 *   it is deleted
 */
export function tagToName(names: Iterable<string>, room = TAG_LENGTH): (tag: string) => string {
  const long = new Map<string, string>();
  for (const name of names) if (!fits(name, room)) long.set(tagOf(name, room), name);
  return (tag) => long.get(tag) ?? tag;
}

function fits(name: string, room: number): boolean {
  return Buffer.byteLength(name) <= room;
}
