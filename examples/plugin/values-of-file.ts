/**
 * A source of external configuration: values of a file, from key to type and value. They are merged over those of the
 * event handlers, and over those of the database.
 */
import { readFile } from 'node:fs/promises';
import type { EventLoop } from '#plugins/controller/api/event-handler.ts';
import {
  ExternalConfigResync,
  type ExternalConfigSource,
  type ExternalSnapshot,
} from '#plugins/controller/api/events.ts';

const LABEL = 'file';

/** Brings a value to its canonical form. @throws for an invalid one */
type ParseValue = (type: string, json: unknown, key: string) => object;

type FileContent = Readonly<Record<string, { readonly type: string; readonly value: unknown }>>;

export class ValuesOfFile implements ExternalConfigSource {
  readonly label = LABEL;
  readonly #path: string;
  readonly #parse: ParseValue;

  constructor(path: string, parse: ParseValue) {
    this.#path = path;
    this.#parse = parse;
  }

  /** Read with every Database Resync. An error keeps the last values. */
  async snapshot(): Promise<ExternalSnapshot> {
    const content: FileContent = JSON.parse(await readFile(this.#path, 'utf8'));
    return Object.fromEntries(
      Object.entries(content).map(([key, { type, value }]) => [key, this.#parse(type, value, key)]),
    );
  }

  /** After a change of the file. */
  async reload(loop: EventLoop): Promise<void> {
    loop.push(ExternalConfigResync.event({ source: LABEL, values: await this.snapshot() }));
  }
}
