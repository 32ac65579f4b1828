import { createSocket, type Socket } from 'node:dgram';
import type { Flow } from '#documents/flows.ts';
import type { Clock } from '#infra/clock/clock.ts';
import type { FlowSink } from './flow-sink.ts';
import { IpfixEncoder } from './ipfix.ts';

/** A collector that was restarted knows none; RFC 7011 asks for a repetition over UDP. */
const TEMPLATES_MS = 60_000;

export interface CollectorAddress {
  readonly address: string;
  readonly port: number;
}

/** Sends records by UDP. What the kernel takes counts as sent: UDP has no receipt. */
export class IpfixCollector implements FlowSink {
  readonly name = 'ipfixCollector';
  readonly #clock: Clock;
  readonly #collector: CollectorAddress;
  readonly #encoder = new IpfixEncoder();
  readonly #socket: Socket;
  #templatesAt = Number.NEGATIVE_INFINITY;

  constructor(collector: CollectorAddress, clock: Clock) {
    this.#clock = clock;
    this.#collector = collector;
    this.#socket = createSocket(collector.address.includes(':') ? 'udp6' : 'udp4');
    // errors of sending are those of each call
    this.#socket.on('error', () => undefined);
    this.#socket.unref();
  }

  async write(flows: readonly Flow[]): Promise<void> {
    const now = this.#clock.monotonic();
    const withTemplates = now - this.#templatesAt >= TEMPLATES_MS;
    for (const message of this.#encoder.messages(flows, this.#clock.wallTime(), withTemplates))
      await this.#send(message);
    if (withTemplates) this.#templatesAt = now;
  }

  close(): void {
    this.#socket.close();
  }

  #send(message: Buffer): Promise<void> {
    const { address, port } = this.#collector;
    return new Promise((resolve, reject) => {
      this.#socket.send(message, port, address, (error) => (error ? reject(error) : resolve()));
    });
  }
}
