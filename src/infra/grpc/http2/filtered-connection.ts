import { Duplex } from 'node:stream';
import { AuthorityFilter } from './authority-filter.ts';

/** A connection of an HTTP/2 client, whose received bytes pass the filter. */
export class FilteredConnection extends Duplex {
  readonly #connection: Duplex;
  readonly #filter = new AuthorityFilter();

  constructor(connection: Duplex) {
    super();
    this.#connection = connection;
    connection.on('data', (bytes: Buffer) => this.#receive(this.#filter.filter(bytes)));
    connection.on('end', () => {
      this.#receive(this.#filter.end());
      this.push(null);
    });
    connection.on('error', (error) => this.destroy(error));
    connection.on('close', () => this.destroy());
  }

  #receive(pieces: readonly Buffer[]): void {
    for (const piece of pieces) if (!this.push(piece)) this.#connection.pause();
  }

  override _read(): void {
    this.#connection.resume();
  }

  override _write(bytes: Buffer, _encoding: unknown, done: (error?: Error | null) => void): void {
    this.#connection.write(bytes, done);
  }

  override _final(done: () => void): void {
    this.#connection.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#connection.destroy();
    done(error);
  }
}
