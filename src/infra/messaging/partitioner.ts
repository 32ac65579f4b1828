/** Selects partitions as the original does, so that a key stays in its partition. */
import type { Random } from '../clock/clock.ts';

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** The partition of a key: its 32-bit FNV-1a hash, as a signed number, modulo `count`. */
export function hashPartition(key: string, count: number): number {
  let hash = FNV_OFFSET;
  for (const byte of Buffer.from(key)) hash = Math.imul(hash ^ byte, FNV_PRIME);
  return Math.abs((hash | 0) % count);
}

/** Of an empty key: a random partition. */
export function partitionOf(key: string, count: number, random: Random): number {
  return key === '' ? Math.floor(random.next() * count) : hashPartition(key, count);
}
