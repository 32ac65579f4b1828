/**
 * The sockets that a thread has open, in memory that it shares with the main thread. A thread that is
 * ended in a system call closes nothing, and an open socket keeps its namespace alive: after its end, the
 * main thread closes them.
 */
const CAPACITY = 256;
const FREE = -1;

export class SocketRegister {
  readonly memory: SharedArrayBuffer;
  readonly #files: Int32Array;

  /** @param memory of the register that the main thread has made; undefined: a new one */
  constructor(memory?: SharedArrayBuffer) {
    this.memory = memory ?? new SharedArrayBuffer(CAPACITY * Int32Array.BYTES_PER_ELEMENT);
    this.#files = new Int32Array(this.memory);
    if (memory === undefined) this.#files.fill(FREE);
  }

  add(file: number): void {
    const slot = this.#files.indexOf(FREE);
    if (slot >= 0) this.#files[slot] = file;
  }

  /** Before the socket is closed: a number that was closed may be reused by then. */
  remove(file: number): void {
    const slot = this.#files.indexOf(file);
    if (slot >= 0) this.#files[slot] = FREE;
  }

  get files(): readonly number[] {
    return [...this.#files].filter((file) => file !== FREE);
  }
}
