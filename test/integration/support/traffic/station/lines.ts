import type { Socket } from 'node:net';

/** Lines that a connection receives. */
export class Lines {
  #text = '';
  #hasEnded = false;
  #waiting: ((line: string | undefined) => void) | undefined;

  constructor(socket: Socket) {
    socket.on('data', (chunk) => {
      this.#text += chunk.toString();
      this.#deliver();
    });
    socket.on('close', () => {
      this.#hasEnded = true;
      this.#deliver();
    });
  }

  /** Undefined when the connection ends before; one call at a time. */
  next(): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.#waiting = resolve;
    this.#deliver();
    return promise;
  }

  #deliver(): void {
    const end = this.#text.indexOf('\n');
    if (this.#waiting === undefined || (end < 0 && !this.#hasEnded)) return;
    const line = end < 0 ? undefined : this.#text.slice(0, end);
    this.#text = this.#text.slice(end + 1);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting(line);
  }
}
