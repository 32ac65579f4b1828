import { hash } from 'node:crypto';

/**
 * A checksum of the content of a level database, written with every batch. LevelDB skips damaged
 * sections of its log without an error; the checksum detects the missing entries.
 */
export class ContentChecksum {
  /** How often the database was opened. */
  generation = 0;
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
    const copy = new ContentChecksum();
    copy.generation = this.generation;
    copy.#count = this.#count;
    copy.#digest = this.#digest;
    return copy;
  }

  toString(): string {
    return JSON.stringify({
      generation: this.generation,
      count: this.#count,
      digest: this.#digest.toString(16),
    });
  }

  static parse(text: string): ContentChecksum | undefined {
    try {
      const { generation, count, digest } = JSON.parse(text);
      const parsed = new ContentChecksum();
      parsed.generation = Number(generation);
      parsed.#count = Number(count);
      parsed.#digest = BigInt(`0x${digest}`);
      return parsed;
    } catch {
      return undefined;
    }
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

function entryHash(key: string, value: string): bigint {
  return hash('sha1', `${key}\0${value}`, 'buffer').readBigUInt64LE(0);
}
