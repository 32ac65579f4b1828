import type { LargeRecord } from './large-records.ts';

/** Writes of different keys that are on their way. */
const IN_FLIGHT = 50;

/** Writes many records at once, and those of one key in their order. */
export class OrderedWrites {
  readonly #write: (key: string, text: string | undefined) => Promise<unknown>;
  readonly #open = new Map<string, Promise<unknown>>();

  /** @param write must not reject */
  constructor(write: (key: string, text: string | undefined) => Promise<unknown>) {
    this.#write = write;
  }

  /** Resolves when the next one may be added. */
  async add([key, text]: LargeRecord): Promise<void> {
    await this.#open.get(key);
    if (this.#open.size >= IN_FLIGHT) await Promise.race(this.#open.values());
    const writing = this.#write(key, text).finally(() => this.#open.delete(key));
    this.#open.set(key, writing);
  }

  async end(): Promise<void> {
    await Promise.all(this.#open.values());
  }
}
