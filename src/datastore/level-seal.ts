import { hash } from 'node:crypto';
import type { StoreHistory, StoreLoss } from './disk-store.ts';

/**
 * A checksum of the content of a level database, written with every batch. LevelDB skips damaged
 * sections of its log without an error; the checksum detects the missing entries.
 */
export class ContentChecksum {
  #count = 0;
  /** Sum of the hashes of all entries modulo 2^64: independent of the order, updated per entry. */
  #digest = 0n;

  add(key: string, value: string): void {
    this.#count++;
    this.#digest = BigInt.asUintN(64, this.#digest + entryHash(key, value));
  }

  remove(key: string, value: string): void {
    this.#count--;
    this.#digest = BigInt.asUintN(64, this.#digest - entryHash(key, value));
  }

  copy(): ContentChecksum {
    return ContentChecksum.of(this.#count, this.#digest);
  }

  equals(other: ContentChecksum): boolean {
    return this.#count === other.#count && this.#digest === other.#digest;
  }

  get count(): number {
    return this.#count;
  }

  get digest(): string {
    return this.#digest.toString(16);
  }

  static of(count: number, digest: bigint): ContentChecksum {
    const checksum = new ContentChecksum();
    checksum.#count = count;
    checksum.#digest = digest;
    return checksum;
  }

  /** Describes how the content differs from the written checksum; undefined when it matches. */
  static damage(written: ContentChecksum | undefined, found: ContentChecksum): string | undefined {
    if (!written) return found.#count === 0 ? undefined : `no checksum for ${found.#count} entries`;
    if (written.#count !== found.#count)
      return `found ${found.#count} entries, expected ${written.#count}`;
    if (written.#digest !== found.#digest) return 'entries differ from the values last written';
    return undefined;
  }
}

/** The record that every batch writes about the content after it. */
export interface Seal {
  /** Identity of the database; empty in one that an earlier release of the agent has written. */
  readonly id: string;
  /** Number of batches that the database has got. */
  readonly sequence: number;
  /** How often the database was opened. */
  readonly generation: number;
  readonly checksum: ContentChecksum;
  readonly loss: StoreLoss | undefined;
}

export function sealText({ id, sequence, generation, checksum, loss }: Seal): string {
  const { count, digest } = checksum;
  return JSON.stringify({ id, sequence, generation, count, digest, loss });
}

export function parseSeal(text: string | undefined): Seal | undefined {
  if (text === undefined) return undefined;
  try {
    const { id = '', sequence = 0, generation, count, digest, loss } = JSON.parse(text);
    return {
      id: String(id),
      sequence: Number(sequence),
      generation: Number(generation),
      checksum: ContentChecksum.of(Number(count), BigInt(`0x${digest}`)),
      loss: loss && { history: loss.history as StoreHistory, detail: String(loss.detail) },
    };
  } catch {
    return undefined;
  }
}

/** Whether two seals describe the same content, whatever happened to the database in between. */
export function isSameContent(a: Seal, b: Seal): boolean {
  return a.id === b.id && a.sequence === b.sequence && a.checksum.equals(b.checksum);
}

function entryHash(key: string, value: string): bigint {
  return hash('sha1', `${key}\0${value}`, 'buffer').readBigUInt64LE(0);
}
