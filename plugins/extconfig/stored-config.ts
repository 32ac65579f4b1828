/**
 * The external configuration of gRPC clients: in a store of its own, and in memory as the event loop
 * knows it. The store comes first: what was acknowledged is in it, so that a restart at any moment loses
 * nothing. A change that the event loop refused is taken back before the client learns of it.
 */
import type { KvStore } from '#datastore/api.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { externalKey } from '#models/external-value.ts';
import { modelOfKey } from '#models/registry.ts';
import type { ExternalConfigSource, ExternalSnapshot } from '#plugins/controller/api/events.ts';
import { GRPC_SOURCE } from './api.ts';

/** Key to canonical value; null deletes it. */
export type ConfigChanges = ReadonlyMap<string, object | null>;

export interface StoredConfigDeps {
  readonly store: KvStore;
  readonly clock: Clock;
  readonly log: Logger;
}

export class StoredConfig implements ExternalConfigSource {
  readonly label = GRPC_SOURCE;
  readonly #deps: StoredConfigDeps;
  /** As after the last event of this source. */
  readonly #values = new Map<string, object>();
  /** Texts of stored values that this release cannot read; they stay until they are replaced. */
  readonly #unreadable = new Map<string, string>();
  /** Texts that the next write restores after a failed one. */
  #owed: ReadonlyMap<string, string | undefined> = new Map();

  constructor(deps: StoredConfigDeps) {
    this.#deps = deps;
  }

  /** Number of values. */
  get size(): number {
    return this.#values.size;
  }

  /** Keys with stored values that this release cannot read. */
  get unreadableKeys(): readonly string[] {
    return [...this.#unreadable.keys()];
  }

  keys(): IterableIterator<string> {
    return this.#values.keys();
  }

  /** All keys in the store. */
  storedKeys(): readonly string[] {
    return [...this.#values.keys(), ...this.#unreadable.keys()];
  }

  /** Reads the store. Call it once, before everything else. */
  async load(): Promise<void> {
    const { store, clock, log } = this.#deps;
    const slices = new Slices(clock);
    const { entries } = await store.list('');
    for (const { key, value } of entries) {
      if (slices.due()) await slices.turn();
      try {
        this.#values.set(key, parse(key, value));
      } catch (thrown) {
        this.#unreadable.set(key, value);
        log.error({ key, error: errorText(thrown) }, 'stored external value is not applied');
      }
    }
  }

  /**
   * Without the change whose event is still queued: that event follows, or is refused. The replies to
   * earlier events have been received after a turn.
   */
  async snapshot(): Promise<ExternalSnapshot> {
    await this.#deps.clock.turn();
    return Object.fromEntries(this.#values);
  }

  /** Changes the store only. @throws StoreUnavailableError, LocalStoreUnavailableError … */
  async write(changes: ConfigChanges): Promise<void> {
    const slices = new Slices(this.#deps.clock);
    const before = new Map(this.#owed);
    const entries = new Map(this.#owed);
    for (const [key, value] of changes) {
      if (slices.due()) await slices.turn();
      if (!before.has(key)) before.set(key, this.#storedText(key));
      entries.set(key, value === null ? undefined : textOf(key, value));
    }
    this.#owed = before;
    await this.#deps.store.putAll(entries);
    this.#owed = new Map();
  }

  /** Takes a written change back that is not committed. Rejects as `write`; the next write repeats it. */
  async restore(changes: ConfigChanges): Promise<void> {
    this.#owed = new Map([...changes.keys()].map((key) => [key, this.#storedText(key)]));
    await this.#deps.store.putAll(this.#owed);
    this.#owed = new Map();
  }

  /** The event of a written change was processed. */
  commit(changes: ConfigChanges): void {
    for (const [key, value] of changes) {
      this.#unreadable.delete(key);
      if (value === null) this.#values.delete(key);
      else this.#values.set(key, value);
    }
  }

  /** The text in the store as of the last commit. */
  #storedText(key: string): string | undefined {
    const value = this.#values.get(key);
    return value === undefined ? this.#unreadable.get(key) : textOf(key, value);
  }
}

/** Values come from the models, and so do keys. */
function textOf(key: string, value: object): string {
  return JSON.stringify(modelOfKey(key)!.toStored(value));
}

function parse(key: string, text: string): object {
  const model = modelOfKey(key);
  if (!model) throw new Error('no model has this key');
  const value: object = model.parse(JSON.parse(text), key);
  const own = externalKey(model, value, key);
  if (own !== key) throw new Error(`the key of this value is ${own}`);
  return value;
}
