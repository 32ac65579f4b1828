import { deepFreeze } from './deep-freeze.ts';

/**
 * A map whose owner shows it to others: they get `view`, which is always current and cannot be changed,
 * and its values, which are plain data, are read-only from when they are set. Nothing is copied.
 */
export class SharedMap<K, V> extends Map<K, V> {
  readonly view: ReadonlyMap<K, V> = new MapView(this);

  override set(key: K, value: V): this {
    return super.set(key, deepFreeze(value));
  }
}

class MapView<K, V> implements ReadonlyMap<K, V> {
  readonly #map: ReadonlyMap<K, V>;

  constructor(map: ReadonlyMap<K, V>) {
    this.#map = map;
    Object.freeze(this);
  }

  get size(): number {
    return this.#map.size;
  }

  get(key: K): V | undefined {
    return this.#map.get(key);
  }

  has(key: K): boolean {
    return this.#map.has(key);
  }

  keys(): MapIterator<K> {
    return this.#map.keys();
  }

  values(): MapIterator<V> {
    return this.#map.values();
  }

  entries(): MapIterator<[K, V]> {
    return this.#map.entries();
  }

  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.#map.entries();
  }

  forEach(callback: (value: V, key: K, map: ReadonlyMap<K, V>) => void): void {
    for (const [key, value] of this.#map) callback(value, key, this);
  }
}
