import { Buffer } from 'node:buffer';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import type { Clock, Timer } from '#infra/clock/clock.ts';
import { type Connect, type Transport, VppDisconnectedError } from '../api.ts';

/** Bytes of one read of the client. */
const READ_SIZE = 64 * 1024;
/** So many bytes without a request in between are a large dump: about 250 routes. */
const DUMP_SIZE = 64 * 1024;
/** In this time VPP makes the messages of 10,000 routes, if it does not have to send them. */
const PAUSE_MS = 12;

/**
 * Connects to the API socket of a VPP.
 * @param clock for pauses of some milliseconds
 * @throws VppDisconnectedError (by rejection) when no process listens on the socket
 */
export function unixConnect(path: string, clock: Clock): Connect {
  return () =>
    new Promise((resolve, reject) => {
      // all reads use one buffer: a new one for each read cost more than reading
      const buffer = Buffer.allocUnsafeSlow(READ_SIZE);
      let transport: ClientTransport | undefined;
      const callback = (length: number): boolean => {
        transport?.receive(buffer.subarray(0, length));
        return true;
      };
      const socket = createConnection({ path, onread: { buffer, callback } });
      const failed = (cause: Error) =>
        reject(
          new VppDisconnectedError('cannot connect to the API socket', { where: path, cause }),
        );
      socket.once('error', failed);
      socket.once('connect', () => {
        socket.off('error', failed);
        transport = new ClientTransport(socket, clock);
        resolve(transport);
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
    const server = createServer((socket) => serve(new ServedTransport(socket, clock)));
    server.once('error', reject);
    server.listen(path, () => resolve(server));
  });
}

class UnixTransport implements Transport {
  onData: (bytes: Uint8Array) => void = () => undefined;
  onDrain: () => void = () => undefined;
  onClose: (error: Error | undefined) => void = () => undefined;
  protected readonly socket: Socket;
  #closedHere = false;
  #error: Error | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('drain', () => this.onDrain());
    socket.on('error', (error) => {
      this.#error = error;
    });
    socket.on('close', () => {
      const error = this.#error ?? new Error('the other side closed');
      this.onClose(this.#closedHere ? undefined : error);
    });
  }

  get isWriting(): boolean {
    return this.socket.writableLength > 0;
  }

  write(bytes: Uint8Array): boolean {
    return this.socket.write(bytes);
  }

  close(): void {
    this.#closedHere = true;
    this.socket.destroy();
  }
}

/**
 * VPP serves nothing else, and forwards no packet, until it has made all messages of a dump. It tries to send each
 * message at once, and is busy for twice as long if the client reads meanwhile, so that some of it succeeds. So the
 * client reads nothing for a while, once in each large dump. VPP keeps the messages, and sends them together later.
 */
class ClientTransport extends UnixTransport {
  readonly #clock: Clock;
  /** Bytes since the last request. */
  #received = 0;
  #pause: Timer | undefined;

  constructor(socket: Socket, clock: Clock) {
    super(socket);
    this.#clock = clock;
  }

  receive(bytes: Uint8Array): void {
    const before = this.#received;
    this.#received += bytes.length;
    this.onData(bytes);
    const isLarge = before < DUMP_SIZE && this.#received >= DUMP_SIZE;
    if (!isLarge || this.#pause || this.socket.destroyed) return;
    this.socket.pause();
    this.#pause = this.#clock.timer(PAUSE_MS, () => {
      this.#pause = undefined;
      this.socket.resume();
    });
  }

  override write(bytes: Uint8Array): boolean {
    this.#received = 0;
    return super.write(bytes);
  }

  override close(): void {
    this.#pause?.cancel();
    super.close();
  }
}

/** All writes of one event-loop turn are sent in one system call: a server writes each reply by itself. */
class ServedTransport extends UnixTransport {
  readonly #clock: Clock;
  #isCorked = false;

  constructor(socket: Socket, clock: Clock) {
    super(socket);
    this.#clock = clock;
    socket.on('data', (bytes) => this.onData(bytes as Uint8Array));
  }

  override write(bytes: Uint8Array): boolean {
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.socket.cork();
      void this.#clock.turn().then(() => {
        this.#isCorked = false;
        this.socket.uncork();
      });
    }
    return super.write(bytes);
  }
}
