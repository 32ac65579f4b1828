/**
 * Tags store the names of managed objects in VPP, in 64 bytes with the terminating zero. A longer name
 * is cut and ends in a hash of the whole name. The same name has the same tag after a restart; the name
 * of a tag is looked up among the names that are desired or known.
 */
import { createHash } from 'node:crypto';
import { TAG_LENGTH } from './limits.ts';

const MARK = '~';
const HASH_DIGITS = 16;

/** @param maxLength maximum length of the tag in bytes */
export function tagOf(name: string, maxLength = TAG_LENGTH): string {
  if (fits(name, maxLength)) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_DIGITS);
  const kept = maxLength - HASH_DIGITS - MARK.length;
  // an incomplete character at the cut is dropped
  const head = new TextDecoder().decode(Buffer.from(name).subarray(0, kept), { stream: true });
  return `${head}${MARK}${hash}`;
}

/**
 * Decodes tags.
 * @param maxLength limit with which the tags were encoded
 * @returns the name of a tag; the tag itself if the name is unknown, so that the orphan has a name while
 *   it is deleted
 */
export function tagToName(
  names: Iterable<string>,
  maxLength = TAG_LENGTH,
): (tag: string) => string {
  const long = new Map<string, string>();
  for (const name of names) if (!fits(name, maxLength)) long.set(tagOf(name, maxLength), name);
  return (tag) => long.get(tag) ?? tag;
}

/**
 * Whether the tag of an interface names it, also if VPP has appended bytes: VPP 26.06 copies the tag of
 * `tap_create_v3` from memory without a terminating zero.
 */
export function isTagOf(tag: string, name: string): boolean {
  return tag.startsWith(tagOf(name));
}

/** VPP copies tags in words of this many bytes. */
const WORD = 16;

/** Whether the tag is that of the name, and VPP has appended bytes to it. */
export function isTagWithGarbage(tag: string, name: string): boolean {
  const own = tagOf(name);
  return tag !== own && tag.startsWith(own) && Buffer.byteLength(own) % WORD === 0;
}

function fits(name: string, maxLength: number): boolean {
  return Buffer.byteLength(name) <= maxLength;
}
