import type { KvEntry, KvStore } from '#datastore/api.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { mirrorPrefix } from './api.ts';

/** Entries handled at a stretch. */
const SLICE = 1000;

/**
 * The copy of the cluster's store on this node, for starts without the cluster's store. A write that
 * fails leaves it behind for a while, which stops nobody: with the next change it is made whole.
 */
export class Mirror {
  readonly #store: KvStore;
  readonly #clock: Clock;
  readonly #log: Logger;
  #error: string | undefined;

  constructor(store: KvStore, clock: Clock, log: Logger) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
  }

  /** Why the mirror is behind. */
  get error(): string | undefined {
    return this.#error;
  }

  async read(): Promise<KvEntry[]> {
    const { entries } = await this.#store.list(`${mirrorPrefix}/`);
    return entries.map(({ key, value }) => ({ key: key.slice(mirrorPrefix.length), value }));
  }

  /** Makes the mirror hold this and nothing else, in one batch. */
  replace(content: Iterable<readonly [string, string]>): Promise<void> {
    return this.#write(async () => {
      const changes = new Map<string, string | undefined>();
      let count = 0;
      for (const [key, value] of content) {
        changes.set(mirrorPrefix + key, value);
        if (++count % SLICE === 0) await this.#clock.turn();
      }
      const { entries } = await this.#store.list(`${mirrorPrefix}/`);
      for (const { key, value } of entries) {
        if (++count % SLICE === 0) await this.#clock.turn();
        if (changes.get(key) === value) changes.delete(key);
        else if (!changes.has(key)) changes.set(key, undefined);
      }
      return changes;
    });
  }

  /** Takes over changes; `whole` is asked for everything when the mirror had fallen behind. */
  apply(
    changes: ReadonlyMap<string, string | undefined>,
    whole: () => Iterable<readonly [string, string]>,
  ): Promise<void> {
    if (this.#error !== undefined) return this.replace(whole());
    return this.#write(
      async () => new Map([...changes].map(([key, value]) => [mirrorPrefix + key, value])),
    );
  }

  async #write(changes: () => Promise<Map<string, string | undefined>>): Promise<void> {
    try {
      await this.#store.putAll(await changes());
      if (this.#error !== undefined) this.#log.info('the local mirror is up to date again');
      this.#error = undefined;
    } catch (thrown) {
      const error = errorText(thrown);
      if (this.#error === undefined)
        this.#log.error({ error }, 'the local mirror cannot be written; it stays as it was');
      this.#error = error;
    }
  }
}
