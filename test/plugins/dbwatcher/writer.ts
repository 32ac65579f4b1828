import type { KvStore } from '#datastore/api.ts';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { interfaceKey, interfaceText, KSR, namespaceKey, namespaceText } from './harness.ts';
import { until } from './patience.ts';

/** Writes as fast as it is let, whatever the answers are. */
export class Writer {
  acknowledged = 0;
  failures = 0;
  lastFailure = '';
  readonly #store: KvStore;
  readonly #random = seededRandom(3);
  #number = 1;
  #rests = false;
  #isResting = false;
  #closed = false;
  readonly #running: Promise<void>;

  constructor(store: KvStore) {
    this.#store = store;
    this.#running = this.#run();
  }

  /** Lets the last write end. */
  async rest(): Promise<void> {
    this.#rests = true;
    await until('the writer rests', () => this.#isResting);
  }

  goOn(): void {
    this.#rests = false;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#rests = false;
    await this.#running;
    await this.#store.close();
  }

  /** Writes that are acknowledged from now on. */
  async more(count: number): Promise<void> {
    const before = this.acknowledged;
    await until(`${count} more writes`, () => this.acknowledged - before >= count);
  }

  /** Many at once, through a store that has the patience for it. */
  async burst(count: number, store: KvStore): Promise<void> {
    await this.rest();
    for (let left = count; left > 0; left -= 50)
      await Promise.all(
        Array.from({ length: Math.min(50, left) }, () => {
          const [[key, text] = ['', '']] = [...this.#some(1)];
          return store.put(key, text ?? '');
        }),
      );
    this.goOn();
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      this.#isResting = this.#rests;
      if (this.#rests) {
        await systemClock.sleep(5);
        continue;
      }
      try {
        const chance = this.#random.next();
        if (chance < 0.15) await this.#store.delete(this.#key());
        else if (chance < 0.25) await this.#store.putAll(this.#some(3));
        else for (const [key, text] of this.#some(1)) await this.#store.put(key, text);
        this.acknowledged++;
        // Hundreds a second are many; more only make the database large.
        await systemClock.sleep(2);
      } catch (error) {
        this.failures++;
        this.lastFailure = String(error);
        await systemClock.sleep(20);
      }
    }
  }

  #key(): string {
    const at = Math.floor(this.#random.next() * 9);
    return at < 7 ? namespaceKey(`n${at}`) : interfaceKey(`loop${at}`);
  }

  #some(count: number): Map<string, string> {
    const some = new Map<string, string>();
    while (some.size < count) {
      const key = this.#key();
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
