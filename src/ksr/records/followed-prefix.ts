/** The entries under a prefix of the datastore, followed from the start to the end, whatever happens to the connection. */
import type { Watch } from '#datastore/api.ts';
import { Backoff } from '#infra/clock/backoff.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { RecordStore } from './record-store.ts';

export interface FollowedPrefixDeps {
  readonly store: Pick<RecordStore, 'pages' | 'watch'>;
  readonly prefix: string;
  /** All were read, at first and after each interruption of the watch. */
  readonly onRead: (entries: ReadonlyMap<string, string>) => void;
  /** @param text undefined: the key was deleted */
  readonly onChange: (key: string, text: string | undefined) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export class FollowedPrefix {
  readonly #deps: FollowedPrefixDeps;
  readonly #closing = new AbortController();
  #watch: Watch | undefined;
  /** Ends what is followed now. */
  #end: () => void = () => undefined;

  constructor(deps: FollowedPrefixDeps) {
    this.#deps = deps;
  }

  start(): void {
    void this.#run();
  }

  /** Nothing is reported any more. A read in progress may end much later: a leader that resigns must not wait for it. */
  close(): void {
    this.#closing.abort();
    this.#watch?.close();
    this.#end();
  }

  async #run(): Promise<void> {
    const { prefix, clock, random, log } = this.#deps;
    const { signal } = this.#closing;
    const backoff = new Backoff({ firstMs: 1_000, maxMs: 30_000 }, random);
    while (!signal.aborted) {
      try {
        const { ended } = await this.#follow();
        backoff.reset();
        await ended;
      } catch (thrown) {
        const reason = errorText(thrown);
        log.debug({ prefix, reason }, 'cannot follow records; trying again');
      }
      this.#watch?.close();
      await clock.sleep(backoff.next(), signal).catch(() => undefined);
    }
  }

  /** Reads all and watches. @returns a promise that resolves when the watch has ended */
  async #follow(): Promise<{ readonly ended: Promise<void> }> {
    const { store, prefix, onRead, onChange } = this.#deps;
    const found = new Map<string, string>();
    const revision = await store.pages(prefix, (entries) => {
      for (const { key, value } of entries) found.set(key, value);
    });
    const ended = Promise.withResolvers<void>();
    this.#end = ended.resolve;
    // closed while it was read
    if (this.#closing.signal.aborted) return { ended: Promise.resolve() };
    onRead(found);
    this.#watch = store.watch(prefix, revision, {
      onChanges: (changes) => {
        for (const { key, value } of changes) onChange(key, value);
      },
      onLost: () => ended.resolve(),
    });
    return { ended: ended.promise };
  }
}
