/** Records that fit into one transaction of etcd. */

/** etcd's default of `--max-txn-ops`. */
export const MAX_OPERATIONS = 128;
/** etcd's default of `--max-request-bytes` is 1.5 MiB; the rest is for what surrounds keys and values. */
export const MAX_RECORD_BYTES = 1_560_000;
/** Smaller than the limit, because several transactions are on their way at once. */
const MAX_BATCH_BYTES = 512 * 1024;

export class Batch {
  readonly entries = new Map<string, string | undefined>();
  readonly #maxOperations: number;
  #bytes = 0;

  constructor(maxOperations: number) {
    this.#maxOperations = maxOperations;
  }

  /** @returns false: it does not fit; a single record always does */
  add(key: string, text: string | undefined): boolean {
    const bytes = recordBytes(key, text);
    const { size } = this.entries;
    if (size >= this.#maxOperations) return false;
    if (size > 0 && this.#bytes + bytes > MAX_BATCH_BYTES) return false;
    this.entries.set(key, text);
    this.#bytes += bytes;
    return true;
  }
}

export function recordBytes(key: string, text = ''): number {
  return Buffer.byteLength(key) + Buffer.byteLength(text);
}
