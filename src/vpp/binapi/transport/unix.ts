import { createConnection, createServer, type Server, type Socket } from 'node:net';
import type { Clock } from '#infra/clock/clock.ts';
import { type Connect, type Transport, VppDisconnectedError } from '../api.ts';

/**
 * Connects to the API socket of a VPP.
 * @throws VppDisconnectedError (by rejection) when no process listens on the socket
 */
export function unixConnect(path: string, clock: Clock): Connect {
  return () =>
    new Promise((resolve, reject) => {
      const socket = createConnection(path);
      const failed = (cause: Error) =>
        reject(
          new VppDisconnectedError('cannot connect to the API socket', { where: path, cause }),
        );
      socket.once('error', failed);
      socket.once('connect', () => {
        socket.off('error', failed);
        resolve(new UnixTransport(socket, clock));
      });
    });
}

/** Serves a unix socket; resolves when it listens. Close the returned server to stop. */
export function unixListen(
  path: string,
  clock: Clock,
  serve: (transport: Transport) => void,
): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => serve(new UnixTransport(socket, clock)));
    server.once('error', reject);
    server.listen(path, () => resolve(server));
  });
}

/** All writes of one event-loop turn are sent in one system call. */
class UnixTransport implements Transport {
  onData: (bytes: Uint8Array) => void = () => undefined;
  onDrain: () => void = () => undefined;
  onClose: (error: Error | undefined) => void = () => undefined;
  readonly #socket: Socket;
  readonly #clock: Clock;
  #isCorked = false;
  #closedHere = false;
  #error: Error | undefined;

  constructor(socket: Socket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
    socket.on('data', (bytes) => this.onData(bytes as Uint8Array));
    socket.on('drain', () => this.onDrain());
    socket.on('error', (error) => {
      this.#error = error;
    });
    socket.on('close', () => {
      const error = this.#error ?? new Error('the other side closed');
      this.onClose(this.#closedHere ? undefined : error);
    });
  }

  write(bytes: Uint8Array): boolean {
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#socket.cork();
      void this.#clock.turn().then(() => {
        this.#isCorked = false;
        this.#socket.uncork();
      });
    }
    return this.#socket.write(bytes);
  }

  close(): void {
    this.#closedHere = true;
    this.#socket.destroy();
  }
}
