import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { Flow } from '#documents/flows.ts';
import type { Clock } from '#infra/clock/clock.ts';
import type { CollectorAddress } from './collector-address.ts';
import type { FlowSink } from './flow-sink.ts';
import { ipfixMessages, setSequence } from './ipfix.ts';

/** A collector that was restarted knows none; RFC 7011 asks for a repetition over UDP. */
const TEMPLATES_MS = 60_000;

/** Sends records by UDP. What the kernel takes counts as sent: UDP has no receipt. */
export class IpfixCollector implements FlowSink {
  readonly name = 'ipfixCollector';
  readonly #clock: Clock;
  readonly #collector: CollectorAddress;
  readonly #socket: Socket;
  #isBound = false;
  #templatesAt = Number.NEGATIVE_INFINITY;
  /** Records that the kernel has taken, modulo 2^32: a collector counts the missing ones by it. */
  #sequence = 0;

  constructor(collector: CollectorAddress, clock: Clock) {
    this.#clock = clock;
    this.#collector = collector;
    this.#socket = createSocket(`udp${collector.family}`);
    // errors of sending are those of each call, and those of binding are heard there
    this.#socket.on('error', () => undefined);
    this.#socket.unref();
  }

  async write(flows: readonly Flow[]): Promise<void> {
    await this.#bind();
    const now = this.#clock.monotonic();
    const withTemplates = now - this.#templatesAt >= TEMPLATES_MS;
    for (const message of ipfixMessages(flows, this.#clock.wallTime(), withTemplates)) {
      await this.#send(setSequence(message, this.#sequence));
      this.#sequence = (this.#sequence + message.records) >>> 0;
    }
    if (withTemplates) this.#templatesAt = now;
  }

  close(): void {
    this.#socket.close();
  }

  /** Not left to the first message: one that waits for a socket which cannot be bound has no end. */
  async #bind(): Promise<void> {
    if (this.#isBound) return;
    this.#socket.bind({ port: 0, exclusive: true });
    await once(this.#socket, 'listening');
    this.#isBound = true;
  }

  #send(message: Buffer): Promise<void> {
    const { address, port } = this.#collector;
    return new Promise((resolve, reject) => {
      this.#socket.send(message, port, address, (error) => (error ? reject(error) : resolve()));
    });
  }
}
