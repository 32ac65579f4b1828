import type { KvStore } from '#datastore/api.ts';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import {
  interfaceKey,
  interfaceText,
  KSR,
  namespaceKey,
  namespaceText,
} from '#test/plugins/dbwatcher/watcher-harness.ts';
import { until } from './until.ts';

/** Writes random values all the time, whether the writes succeed or fail. */
export class ContinuousWriter {
  acknowledged = 0;
  failures = 0;
  lastFailure = '';
  readonly #store: KvStore;
  readonly #random = seededRandom(3);
  #number = 1;
  #shouldPause = false;
  #isPaused = false;
  #closed = false;
  readonly #running: Promise<void>;

  constructor(store: KvStore) {
    this.#store = store;
    this.#running = this.#run();
  }

  /** Resolves when the last write has ended. */
  async pause(): Promise<void> {
    this.#shouldPause = true;
    await until('the writer has paused', () => this.#isPaused);
  }

  resume(): void {
    this.#shouldPause = false;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#shouldPause = false;
    await this.#running;
    await this.#store.close();
  }

  /** Waits for this many more acknowledged writes. */
  async awaitWrites(count: number): Promise<void> {
    const before = this.acknowledged;
    await until(`${count} more writes`, () => this.acknowledged - before >= count);
  }

  /** Many writes at once, through a store with a long operation timeout. */
  async burst(count: number, store: KvStore): Promise<void> {
    await this.pause();
    for (let left = count; left > 0; left -= 50)
      await Promise.all(
        Array.from({ length: Math.min(50, left) }, () => {
          const [[key, text] = ['', '']] = [...this.#randomValues(1)];
          return store.put(key, text ?? '');
        }),
      );
    this.resume();
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      this.#isPaused = this.#shouldPause;
      if (this.#shouldPause) {
        await systemClock.sleep(5);
        continue;
      }
      try {
        const choice = this.#random.next();
        if (choice < 0.15) await this.#store.delete(this.#randomKey());
        else if (choice < 0.25) await this.#store.putAll(this.#randomValues(3));
        else for (const [key, text] of this.#randomValues(1)) await this.#store.put(key, text);
        this.acknowledged++;
        // A few hundred writes a second are enough; more would only grow the database.
        await systemClock.sleep(2);
      } catch (error) {
        this.failures++;
        this.lastFailure = String(error);
        await systemClock.sleep(20);
      }
    }
  }

  #randomKey(): string {
    const at = Math.floor(this.#random.next() * 9);
    return at < 7 ? namespaceKey(`n${at}`) : interfaceKey(`loop${at}`);
  }

  #randomValues(count: number): Map<string, string> {
    const some = new Map<string, string>();
    while (some.size < count) {
      const key = this.#randomKey();
      const name = key.slice(key.lastIndexOf('/') + 1);
      const number = this.#number++;
      some.set(
        key,
        key.startsWith(KSR) ? namespaceText(name, `${number}`) : interfaceText(name, number),
      );
    }
    return some;
  }
}
