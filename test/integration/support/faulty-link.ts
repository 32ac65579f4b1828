/** A TCP proxy on loopback that injects faults into its connections. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export class FaultyLink {
  readonly #server: Server;
  /** Port of the server for new connections; of several each takes the next one. */
  target: number | readonly number[];
  #turn = 0;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  /** Closes a connection after this many bytes from the server. */
  cutAfter = Number.POSITIVE_INFINITY;
  /** Rejects new connections. */
  closed = false;
  /** Forwards nothing in either direction; connections stay open. */
  silent = false;
  /** Forwards requests but no replies. */
  swallowReplies = false;
  /** Connections that were accepted so far. */
  connections = 0;
  /** Called for each connection after the first. */
  onConnection: (() => void) | undefined;
  /** Called with the bytes of a client before they are forwarded. */
  onRequest: ((bytes: Buffer) => void) | undefined;

  static async start(target: number | readonly number[]): Promise<FaultyLink> {
    const link = new FaultyLink(target);
    await once(link.#server.listen(0, '127.0.0.1'), 'listening');
    return link;
  }

  private constructor(target: number | readonly number[]) {
    this.target = target;
    this.#server = createServer((client) => this.#join(client, this.#nextTarget()));
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  #nextTarget(): number {
    const all = [this.target].flat();
    return all[this.#turn++ % all.length]!;
  }

  /** Closes all connections abruptly. */
  cut(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(client: Socket, target: number): void {
    if (this.closed) {
      client.destroy();
      return;
    }
    if (this.connections++ > 0) this.onConnection?.();
    const server = connect(target, '127.0.0.1');
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    const end = () => {
      this.#pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of pair) socket.on('error', end).on('close', end);
    let carried = 0;
    client.on('data', (bytes: Buffer) => {
      this.onRequest?.(bytes);
      if (!this.silent) server.write(bytes);
    });
    server.on('data', (bytes: Buffer) => {
      if (this.silent || this.swallowReplies) return;
      const left = this.cutAfter - carried;
      carried += bytes.length;
      if (bytes.length < left) client.write(bytes);
      else client.write(bytes.subarray(0, left), end);
    });
  }
}
