/** Ranges of keys in etcd, in bytes. */

/**
 * The smallest key above all keys with the prefix, as the end of a half-open range. No byte of
 * UTF-8 is 0xFF, so the last byte can always be incremented. For the empty prefix a zero byte, which
 * means "no end" in etcd.
 */
export function prefixEnd(prefix: string): Buffer {
  const bytes = Buffer.from(prefix);
  const last = bytes.length - 1;
  if (last < 0) return Buffer.from([0]);
  bytes[last] = bytes[last]! + 1;
  return bytes;
}

/** The smallest key above this one, in bytes: the start of the next page of a range. */
export function keyAfter(key: Buffer): Buffer {
  return Buffer.concat([key, Buffer.from([0])]);
}

/** The start of a range over a prefix; etcd does not allow an empty key. */
export function prefixStart(prefix: string): Buffer {
  return prefix === '' ? Buffer.from([0]) : Buffer.from(prefix);
}
