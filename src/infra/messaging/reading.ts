/** What the readers of groups and of partitions share. */

/** Pauses between attempts to read while Kafka is unavailable. */
export const retryDelays = { firstMs: 500, maxMs: 10_000 };

export function keyText(key: Buffer | null | undefined): string {
  return key ? key.toString() : '';
}
