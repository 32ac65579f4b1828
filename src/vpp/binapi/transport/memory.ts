import type { Connect, Transport } from '../api.ts';

/** Number of undelivered bytes above which `write` returns false. */
const HIGH_WATER = 1024 * 1024;

/**
 * Two ends of a connection within the process. Bytes that one side writes reach the other in a
 * microtask, in order and in the chunks in which they were written.
 */
export function memoryPair(): readonly [Transport, Transport] {
  const a = new MemoryTransport();
  const b = new MemoryTransport();
  a.peer = b;
  b.peer = a;
  return [a, b];
}

/** A `Connect` that passes the server end to `serve`, like a listening socket. */
export function memoryConnect(serve: (transport: Transport) => void): Connect {
  return async () => {
    const [client, server] = memoryPair();
    serve(server);
    return client;
  };
}

class MemoryTransport implements Transport {
  peer: MemoryTransport | undefined;
  onData: (bytes: Uint8Array) => void = () => undefined;
  onDrain: () => void = () => undefined;
  onClose: (error: Error | undefined) => void = () => undefined;
  #isClosed = false;
  #outgoing: Uint8Array[] = [];
  #bytes = 0;
  #isFull = false;

  get isWriting(): boolean {
    return this.#outgoing.length > 0;
  }

  write(bytes: Uint8Array): boolean {
    if (this.#isClosed) return true;
    if (this.#outgoing.length === 0) queueMicrotask(() => this.#deliver());
    this.#outgoing.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes > HIGH_WATER) this.#isFull = true;
    return !this.#isFull;
  }

  /** Bytes that were written before still arrive, as from a socket. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    queueMicrotask(() => {
      this.onClose(undefined);
      if (this.peer) this.peer.#lost();
    });
  }

  #lost(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onClose(new Error('the other side closed'));
  }

  #deliver(): void {
    const parts = this.#outgoing;
    this.#outgoing = [];
    this.#bytes = 0;
    const { peer } = this;
    if (peer) for (const part of parts) if (!peer.#isClosed) peer.onData(part);
    if (!this.#isFull) return;
    this.#isFull = false;
    this.onDrain();
  }
}
