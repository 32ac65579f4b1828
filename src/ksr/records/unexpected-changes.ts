import type { Clock, Timer } from '#infra/clock/clock.ts';
import type { RecordStore } from './record-store.ts';

/** How long the changes of a watch may lag behind the replies to writes. */
const LAG_MS = 1_000;

export interface UnexpectedChangesDeps {
  readonly store: Pick<RecordStore, 'get'>;
  readonly clock: Clock;
  /** Whether the key is about to be written anyway. */
  isPending(key: string): boolean;
  isWanted(key: string, text: string | undefined): boolean;
  /** The datastore has this text, which is not wanted. */
  repair(key: string, text: string | undefined): void;
}

/**
 * Keys for which a watch has shown a text that is not wanted. Most of them are earlier writes of this
 * instance, shown late; so the key is read again before it is repaired.
 */
export class UnexpectedChanges {
  readonly #deps: UnexpectedChangesDeps;
  readonly #keys = new Set<string>();
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(deps: UnexpectedChangesDeps) {
    this.#deps = deps;
  }

  suspect(key: string): void {
    if (this.#isClosed) return;
    this.#keys.add(key);
    this.#timer ??= this.#deps.clock.timer(LAG_MS, () => void this.#check());
  }

  /** A new comparison of all keys makes the suspicions needless. */
  clear(): void {
    this.#keys.clear();
  }

  close(): void {
    this.#isClosed = true;
    this.#keys.clear();
    this.#timer?.cancel();
  }

  async #check(): Promise<void> {
    const { store, isPending, isWanted, repair } = this.#deps;
    try {
      for (const key of this.#keys) {
        // a pending write may turn out to be needless, so the key stays suspect
        if (isPending(key)) continue;
        const text = await store.get(key);
        // cleared or pending meanwhile
        if (!this.#keys.has(key) || isPending(key)) continue;
        this.#keys.delete(key);
        if (!isWanted(key, text)) repair(key, text);
      }
    } catch {
      // the datastore does not answer: the keys wait for the next check
    }
    this.#timer = undefined;
    if (this.#keys.size > 0 && !this.#isClosed)
      this.#timer = this.#deps.clock.timer(LAG_MS, () => void this.#check());
  }
}
