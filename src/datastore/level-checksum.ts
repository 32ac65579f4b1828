import { hash } from 'node:crypto';

/**
 * What a level database says about its own content, written with every batch. LevelDB skips damaged
 * stretches of its log without an error; the seal does not fit what is left then.
 */
export class ContentChecksum {
  /** How often the database was opened. */
  generation = 0;
  #count = 0;
  /** Sum of the hashes of all entries modulo 2^64: needs no order and can be kept up to date. */
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
    const made = new ContentChecksum();
    made.generation = this.generation;
    made.#count = this.#count;
    made.#digest = this.#digest;
    return made;
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
      const made = new ContentChecksum();
      made.generation = Number(generation);
      made.#count = Number(count);
      made.#digest = BigInt(`0x${digest}`);
      return made;
    } catch {
      return undefined;
    }
  }

  /** What is wrong with the content, given the seal that was written for it. */
  static damage(written: ContentChecksum | undefined, found: ContentChecksum): string | undefined {
    if (!written) return found.#count === 0 ? undefined : `no seal for ${found.#count} entries`;
    if (written.#count !== found.#count)
      return `${found.#count} entries where ${written.#count} were written`;
    if (written.#digest !== found.#digest) return 'entries do not have the values last written';
    return undefined;
  }
}

function entryHash(key: string, value: string): bigint {
  return hash('sha1', `${key}\0${value}`, 'buffer').readBigUInt64LE(0);
}
