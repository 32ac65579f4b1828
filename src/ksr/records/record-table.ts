/**
 * The records that the API server wants under one prefix of the datastore. Only texts are held, no
 * objects: with 150,000 pods every byte of a record counts.
 */
import { ShardedMap } from '#infra/collections/sharded-map.ts';

/**
 * Instead of a text, for an object that exists but has no record, because its kind does not allow its
 * content: whatever the datastore has for it stays.
 */
export const UNREADABLE = Symbol('unreadable');

/** The text that a key must have in the datastore; `undefined`: it must not exist. */
export type Wanted = string | undefined | typeof UNREADABLE;

/** Called after a key of the table has got another text. */
export type OnChange = (key: string, before: Wanted) => void;

export class RecordTable {
  /** Full prefix, with a slash at its end. */
  readonly prefix: string;
  readonly #entries = new ShardedMap<string | typeof UNREADABLE>();
  /** Keys that the list in progress has shown so far. */
  #listed: Set<string> | undefined;
  /** Keys whose text carries less than their object, because that cannot be read. */
  readonly #closed = new Set<string>();
  #size = 0;
  #unreadable = 0;
  #isComplete = false;
  #onChange: OnChange = () => undefined;
  #onComplete: () => void = () => undefined;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  /** Records, without unreadable objects. */
  get size(): number {
    return this.#size - this.#unreadable;
  }

  /** Objects that cannot be read, as a whole or in parts. */
  get unreadable(): number {
    return this.#unreadable + this.#closed.size;
  }

  /** Whether every object is known and up to date, so that the records may be compared with the table. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** There is one listener: the synchronization with the datastore. */
  listen(onChange: OnChange, onComplete: () => void): void {
    this.#onChange = onChange;
    this.#onComplete = onComplete;
  }

  get(key: string): Wanted {
    return this.#entries.get(key);
  }

  *keys(): Generator<string, void, void> {
    for (const [key, entry] of this.#entries) if (entry !== UNREADABLE) yield key;
  }

  /** @param isClosed the text carries less than the object, because that cannot be read */
  set(key: string, text: string | typeof UNREADABLE, isClosed = false): void {
    this.#listed?.add(key);
    if (isClosed) this.#closed.add(key);
    else this.#closed.delete(key);
    const before = this.#entries.get(key);
    if (before === text) return;
    if (before === undefined) this.#size++;
    if (before === UNREADABLE) this.#unreadable--;
    if (text === UNREADABLE) this.#unreadable++;
    this.#entries.set(key, text);
    this.#onChange(key, before);
  }

  delete(key: string): void {
    this.#listed?.delete(key);
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#closed.delete(key);
    this.#size--;
    if (entry === UNREADABLE) this.#unreadable--;
    this.#onChange(key, entry);
  }

  /** A list begins. Until it is complete, the table keeps what it does not show. */
  beginList(): void {
    this.#listed = new Set();
  }

  /** The list is complete: what it has not shown does not exist. */
  endList(): void {
    const listed = this.#listed;
    if (listed === undefined) return;
    this.#listed = undefined;
    if (listed.size < this.#size) {
      const gone: string[] = [];
      for (const [key] of this.#entries) if (!listed.has(key)) gone.push(key);
      for (const key of gone) this.delete(key);
    }
    this.markComplete();
  }

  /** Every object is known. */
  markComplete(): void {
    if (this.#isComplete) return;
    this.#isComplete = true;
    this.#onComplete();
  }

  /** Not every object is known any more, or they may be out of date. */
  markIncomplete(): void {
    this.#isComplete = false;
    this.#listed = undefined;
  }
}
