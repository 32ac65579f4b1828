import { Fifo } from '../collections/fifo.ts';

/** Characters that are kept. */
const CAPACITY = 1 << 20;

/** The last log lines of the process, for a support bundle: the log itself may be elsewhere. */
export class RecentLines {
  readonly #lines = new Fifo<string>();
  #length = 0;

  add(line: string): void {
    this.#lines.push(line);
    this.#length += line.length;
    while (this.#length > CAPACITY && this.#lines.size > 1)
      this.#length -= this.#lines.shift()!.length;
  }

  text(): string {
    return [...this.#lines].join('');
  }
}
