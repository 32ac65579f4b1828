import { Buffer } from 'node:buffer';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import type { Clock, Timer } from '#infra/clock/clock.ts';
import { type Connect, type Transport, VppDisconnectedError } from '../api.ts';

/** Bytes of one read of the client. */
const READ_SIZE = 64 * 1024;
/** VPP writes each message of a dump by itself. So many reads of few bytes without a request are a large dump. */
const DUMP_READS = 256;
const SMALL_READ = 4096;
/** In this time VPP writes hundreds of messages. */
const PAUSE_MS = 2;

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
 * A client that reads as fast as VPP writes wakes up for each message of a dump, which costs it more than the
 * message itself. So it reads nothing for a while; then, or with the next request, it reads what VPP has
 * collected.
 */
class ClientTransport extends UnixTransport {
  readonly #clock: Clock;
  #smallReads = 0;
  #pause: Timer | undefined;

  constructor(socket: Socket, clock: Clock) {
    super(socket);
    this.#clock = clock;
  }

  receive(bytes: Uint8Array): void {
    this.onData(bytes);
    if (bytes.length >= SMALL_READ || ++this.#smallReads < DUMP_READS || this.#pause) return;
    if (this.socket.destroyed) return;
    this.socket.pause();
    this.#pause = this.#clock.timer(PAUSE_MS, () => this.#resume());
  }

  override write(bytes: Uint8Array): boolean {
    this.#smallReads = 0;
    this.#resume();
    return super.write(bytes);
  }

  override close(): void {
    this.#pause?.cancel();
    super.close();
  }

  #resume(): void {
    if (!this.#pause) return;
    this.#pause.cancel();
    this.#pause = undefined;
    this.socket.resume();
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
