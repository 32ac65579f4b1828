import type { Presence } from './recorded-node.ts';

const none: readonly string[] = [];

/** Presence of all keys at one time. */
export class PresenceAt implements Presence {
  readonly #sorted: string[] = [];
  readonly #keys = new Set<string>();
  readonly #derived = new Map<string, string[]>();
  readonly #byPrefix = new Map<string, readonly string[]>();

  /** To be called in the order of the keys, before any lookup. */
  add(key: string, baseKey: string | undefined): void {
    this.#sorted.push(key);
    this.#keys.add(key);
    if (baseKey === undefined) return;
    const others = this.#derived.get(baseKey);
    if (others) others.push(key);
    else this.#derived.set(baseKey, [key]);
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  withPrefix(prefix: string): readonly string[] {
    const known = this.#byPrefix.get(prefix);
    if (known) return known;
    const found = this.#sorted.filter((key) => key.startsWith(prefix));
    this.#byPrefix.set(prefix, found);
    return found;
  }

  derivedFrom(key: string): readonly string[] {
    return this.#derived.get(key) ?? none;
  }
}
