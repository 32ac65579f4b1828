const SHARDS = 64;
/** Names differ most at their end. */
const HASHED_LENGTH = 12;

/**
 * A map by name of which only a small part is rebuilt at once while it grows: a `Map` of 100,000 entries
 * blocks the main thread for several milliseconds when it doubles its size. Entries are in no order.
 */
export class ShardedMap<V> {
  readonly #shards: Map<string, V>[] = [];

  constructor() {
    for (let i = 0; i < SHARDS; i++) this.#shards.push(new Map());
  }

  get(name: string): V | undefined {
    return this.#shardOf(name).get(name);
  }

  set(name: string, value: V): void {
    this.#shardOf(name).set(name, value);
  }

  delete(name: string): boolean {
    return this.#shardOf(name).delete(name);
  }

  *[Symbol.iterator](): Generator<[string, V], void, void> {
    for (const shard of this.#shards) yield* shard;
  }

  clear(): void {
    for (const shard of this.#shards) shard.clear();
  }

  #shardOf(name: string): Map<string, V> {
    let hash = name.length;
    for (let i = Math.max(0, name.length - HASHED_LENGTH); i < name.length; i++)
      hash = (hash * 31 + name.charCodeAt(i)) | 0;
    return this.#shards[(hash ^ (hash >>> 16)) & (SHARDS - 1)] as Map<string, V>;
  }
}
