/** Limits of the connections to the endpoint, and of the requests that one connection pipelines. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { Clock } from '../clock/clock.ts';
import { bareReply } from './bare-reply.ts';
import { RateLimiter } from './rate-limiter.ts';
import { Turns } from './turns.ts';

/** Many pods may hold connections open; the memory of so many is a few megabytes. */
const MAX_CONNECTIONS = 1_024;
const MAX_CONNECTIONS_PER_ADDRESS = 64;
/** Clients that pipeline at all send some ten requests ahead. */
const MAX_PIPELINED = 64;
/** A connection with a huge or malformed request takes some milliseconds of the main thread. */
const CONNECTIONS_PER_SECOND = 20;
const CONNECTIONS_AT_ONCE = 100;
/** How long new connections from an address are closed after one has exceeded a limit. */
const PENALTY_MS = 1_000;
/** Time between two new connections of the machine itself during that: a probe may be among them. */
const LOCAL_PAUSE_MS = 20;
/** Bytes. During that time, a connection that has sent more at once has sent many requests. */
const MAX_HEAD = 16 * 1_024;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

interface Pipeline {
  pending: number;
  /** Resolves when the requests so far have been replied to. */
  last: Promise<void>;
}

interface LocalConnection {
  readonly socket: Socket;
  readonly begin: () => void;
}

export class Connections {
  readonly #clock: Clock;
  readonly #byAddress = new Map<string, Set<Socket>>();
  /** When connections from an address are accepted again, the first end first. */
  readonly #penalties = new Map<string, number>();
  readonly #pipelines = new WeakMap<Socket, Pipeline>();
  readonly #rate: RateLimiter;
  readonly #turns: Turns;
  #remote = 0;
  /** When connections of the machine itself begin at once again. */
  #localPenaltyEnd = 0;
  /** Those that have not begun. */
  readonly #local: LocalConnection[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#rate = new RateLimiter(CONNECTIONS_PER_SECOND, CONNECTIONS_AT_ONCE, clock);
    this.#turns = new Turns(clock);
  }

  /**
   * Closes connections over the limits. Those of the machine itself, such as probes, always fit.
   * Thousands may wait to be accepted before that of a probe, so one that is closed must not reach the
   * listeners of the server, which make its parser and timers. Call it before other listeners are added.
   */
  limit(server: Server): void {
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      // Malformed, or with a head that is too large; not a client that has disconnected.
      if (error.code?.startsWith('HPE_')) this.#penalize(socket);
    });
    const accept = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      const begin = () => {
        for (const listener of accept) listener.call(server, socket);
      };
      if (isLocal(socket)) this.#beginLocal({ socket, begin });
      else if (this.#fits(socket)) begin();
      else socket.destroy();
    });
  }

  /** Nothing that a connection has sent is parsed before it begins. */
  #beginLocal(local: LocalConnection): void {
    const isPenalized = this.#clock.monotonic() < this.#localPenaltyEnd;
    if (!isPenalized && this.#local.length === 0) {
      local.begin();
      return;
    }
    local.socket.on('error', () => undefined);
    this.#local.push(local);
    if (this.#local.length === 1) this.#beginNextLater();
  }

  #beginNextLater(): void {
    this.#clock.timer(LOCAL_PAUSE_MS, () => {
      while (this.#local.length > 0 && !this.#beginNext());
      if (this.#local.length > 0) this.#beginNextLater();
    });
  }

  /** @returns false: the connection is closed */
  #beginNext(): boolean {
    const { socket, begin } = this.#local.shift()!;
    if (socket.readableLength > MAX_HEAD) {
      this.#penalize(socket);
      socket.destroy();
    }
    if (socket.destroyed) return false;
    begin();
    return true;
  }

  #fits(socket: Socket): boolean {
    const address = addressOf(socket);
    const open = this.#byAddress.get(address)?.size ?? 0;
    if (open >= MAX_CONNECTIONS_PER_ADDRESS || this.#remote >= MAX_CONNECTIONS)
      this.#refuseNew(address);
    if (this.#isPenalized(address) || this.#rate.take(address) > 0) return false;
    this.#add(address, socket);
    socket.once('close', () => this.#remove(address, socket));
    return true;
  }

  /**
   * Closes a connection with too many requests ahead of their replies, and one with a body of unknown
   * length. What is read at once, 64 KiB, holds 2,000 requests, and those after the limit must not cost
   * more than their parsing.
   */
  limitPipelining(handler: Handler): Handler {
    return (request, response) => {
      const { socket } = request;
      if (socket.destroyed) {
        // Otherwise Node.js does it with an error when the connection is closed.
        request.destroy();
        return;
      }
      const pipeline = this.#pipelines.get(socket) ?? { pending: 0, last: Promise.resolve() };
      this.#pipelines.set(socket, pipeline);
      if (++pipeline.pending > MAX_PIPELINED) {
        this.#penalize(socket);
        omitStacksAtClose(socket);
        socket.destroy();
        return;
      }
      response.once('close', () => void pipeline.pending--);
      // A chunk may be a single byte, and each takes as long as a whole request. Here, because the
      // rest of what was read is parsed before anything else happens.
      if (request.headers['transfer-encoding'] !== undefined) {
        socket.end(bareReply(411, 'a body has to have a Content-Length'));
        this.#penalize(socket);
        request.destroy();
        return;
      }
      void this.#turnOf(pipeline, request, response).then(() => {
        if (!socket.destroyed) handler(request, response);
      });
    };
  }

  /**
   * Resolves when the earlier requests of the connection have been replied to, and its address has its
   * turn. Replies are sent in order anyway, so those that are made early only take memory.
   */
  async #turnOf(
    pipeline: Pipeline,
    { socket }: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { last } = pipeline;
    pipeline.last = new Promise((resolve) => response.once('close', resolve));
    await last;
    await this.#turns.next(addressOf(socket), socket);
  }

  #add(address: string, socket: Socket): void {
    this.#remote++;
    const sockets = this.#byAddress.get(address);
    if (sockets) sockets.add(socket);
    else this.#byAddress.set(address, new Set([socket]));
  }

  #remove(address: string, socket: Socket): void {
    this.#remote--;
    const sockets = this.#byAddress.get(address);
    sockets?.delete(socket);
    if (sockets?.size === 0) this.#byAddress.delete(address);
  }

  /**
   * Closes all connections of the address: what the others have sent already costs as much. Those of the
   * machine itself are only delayed, because kubelet's probes have the same address as other processes.
   */
  #penalize(socket: Socket): void {
    if (isLocal(socket)) {
      this.#localPenaltyEnd = this.#clock.monotonic() + PENALTY_MS;
      return;
    }
    const address = addressOf(socket);
    this.#refuseNew(address);
    for (const other of this.#byAddress.get(address) ?? []) if (other !== socket) other.destroy();
  }

  #refuseNew(address: string): void {
    const now = this.#clock.monotonic();
    // An address that never connects again must not be kept: those of a network with IPv6 are countless.
    for (const [old, end] of this.#penalties) {
      if (now < end) break;
      this.#penalties.delete(old);
    }
    this.#penalties.delete(address);
    this.#penalties.set(address, now + PENALTY_MS);
  }

  #isPenalized(address: string): boolean {
    const end = this.#penalties.get(address);
    return end !== undefined && this.#clock.monotonic() < end;
  }
}

/**
 * When a connection is closed, Node.js makes an error for each request without a reply. 2,000 stacks take
 * 10 ms and more of the main thread, and no handler has begun the requests that they are for.
 */
function omitStacksAtClose(socket: Socket): void {
  const { stackTraceLimit } = Error;
  socket.prependOnceListener('close', () => {
    Error.stackTraceLimit = 0;
  });
  socket.once('close', () => {
    Error.stackTraceLimit = stackTraceLimit;
  });
}

function addressOf(socket: Socket): string {
  return socket.remoteAddress ?? '';
}

/** Whether the client is on this machine: kubelet, Prometheus in the network of the host, a shell. */
function isLocal({ remoteAddress, localAddress }: Socket): boolean {
  return remoteAddress === localAddress;
}
