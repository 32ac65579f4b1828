/**
 * A named map with secondary indexes and watchers: a component publishes data that other components
 * may read. All calls are synchronous; watchers are called after the change, in the order of their
 * registration. Each watcher gets all changes in their order, also those that watchers make.
 */
import { Fifo } from '../collections/fifo.ts';
import { defineError, errorText } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';

export const SubscriberExistsError = defineError({
  name: 'SubscriberExistsError',
  code: 'CV_IDXMAP_SUBSCRIBER_EXISTS',
  remedy: 'This is a bug: every watcher of a map needs a unique name. Report it.',
});

export interface MappingEvent<V> {
  /** Title of the map that changed. */
  readonly title: string;
  readonly name: string;
  /** The new value; for a deletion the last one. */
  readonly value: V;
  /** Whether the change replaced an earlier value. */
  readonly update: boolean;
  readonly del: boolean;
}

/** Values of secondary indexes of one item: field to values. */
export type Fields = Readonly<Record<string, readonly string[]>>;

/** Read access for other components. The order of lists is undefined. */
export interface NamedMapping<V> {
  readonly title: string;
  readonly size: number;
  getValue(name: string): V | undefined;
  has(name: string): boolean;
  /** Names of the items whose secondary index `field` has this value. */
  listNames(field: string, value: string): string[];
  listAllNames(): string[];
  /** Secondary index of one item; empty for an unknown name. */
  listFields(name: string): Fields;
  /**
   * Calls back on every later change, within the call that makes the change; if that is called by a
   * watcher, after it. An error of a callback is logged and affects neither the map nor the other
   * watchers.
   * @returns stops the watch
   * @throws SubscriberExistsError
   */
  watch(subscriber: string, callback: (event: MappingEvent<V>) => void): () => void;
}

const noFields: Fields = {};

export class IndexMap<V> implements NamedMapping<V> {
  readonly title: string;
  readonly #fieldsOf: ((value: V) => Fields) | undefined;
  readonly #log: Logger;
  readonly #values = new Map<string, V>();
  readonly #index = new Map<string, Map<string, Set<string>>>();
  readonly #watchers = new Map<string, (event: MappingEvent<V>) => void>();
  /** Changes that watchers have not got yet. */
  readonly #events = new Fifo<MappingEvent<V>>();
  #isTelling = false;

  /** @param fieldsOf secondary index of an item; depends on the item alone */
  constructor(title: string, log: Logger, fieldsOf?: (value: V) => Fields) {
    this.title = title;
    this.#log = log;
    this.#fieldsOf = fieldsOf;
  }

  get size(): number {
    return this.#values.size;
  }

  getValue(name: string): V | undefined {
    return this.#values.get(name);
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  listNames(field: string, value: string): string[] {
    return [...(this.#index.get(field)?.get(value) ?? [])];
  }

  listAllNames(): string[] {
    return [...this.#values.keys()];
  }

  listFields(name: string): Fields {
    if (!this.#values.has(name)) return noFields;
    return this.#fieldsOf?.(this.#values.get(name) as V) ?? noFields;
  }

  watch(subscriber: string, callback: (event: MappingEvent<V>) => void): () => void {
    if (this.#watchers.has(subscriber))
      throw new SubscriberExistsError('the subscriber watches the map already', {
        where: `${this.title}/${subscriber}`,
      });
    this.#watchers.set(subscriber, callback);
    return () => {
      if (this.#watchers.get(subscriber) === callback) this.#watchers.delete(subscriber);
    };
  }

  /** Sets the value of a new or existing name. */
  put(name: string, value: V): void {
    const update = this.#values.has(name);
    const fields = this.#fieldsOf?.(value);
    if (update) this.#unindex(name, this.#values.get(name) as V);
    this.#values.set(name, value);
    if (fields)
      for (const [field, texts] of Object.entries(fields))
        for (const text of texts) this.#enter(field, text, name);
    this.#tell(name, value, update, false);
  }

  /** Changes an existing item; returns false, without a change, for an unknown name. */
  update(name: string, value: V): boolean {
    if (!this.#values.has(name)) return false;
    this.put(name, value);
    return true;
  }

  /** @returns the last value */
  delete(name: string): V | undefined {
    if (!this.#values.has(name)) return undefined;
    const value = this.#values.get(name) as V;
    this.#unindex(name, value);
    this.#values.delete(name);
    this.#tell(name, value, false, true);
    return value;
  }

  /** Deletes every item and notifies the watchers of each. */
  clear(): void {
    for (const name of this.listAllNames()) this.delete(name);
  }

  #enter(field: string, text: string, name: string): void {
    const byValue = this.#index.get(field) ?? new Map<string, Set<string>>();
    const names = byValue.get(text) ?? new Set<string>();
    this.#index.set(field, byValue.set(text, names.add(name)));
  }

  #unindex(name: string, value: V): void {
    if (!this.#fieldsOf) return;
    for (const [field, texts] of Object.entries(this.#fieldsOf(value)))
      for (const text of texts) {
        const byValue = this.#index.get(field);
        const names = byValue?.get(text);
        names?.delete(name);
        if (names?.size === 0) byValue?.delete(text);
      }
  }

  #tell(name: string, value: V, update: boolean, del: boolean): void {
    if (this.#watchers.size === 0) return;
    this.#events.push({ title: this.title, name, value, update, del });
    // A watcher that makes a change is called with it after the others know the change before.
    if (this.#isTelling) return;
    this.#isTelling = true;
    for (let next = this.#events.shift(); next; next = this.#events.shift()) this.#tellAll(next);
    this.#isTelling = false;
  }

  #tellAll(event: MappingEvent<V>): void {
    for (const [subscriber, callback] of [...this.#watchers]) {
      // It was stopped by one before it.
      if (this.#watchers.get(subscriber) !== callback) continue;
      try {
        callback(event);
      } catch (thrown) {
        const { title: map, name } = event;
        const fields = { map, subscriber, name, error: errorText(thrown) };
        this.#log.error(fields, 'map watcher failed');
      }
    }
  }
}
