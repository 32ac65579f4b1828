/** Requests to VPP over a raw socket: the reference for the client and the scheduler. */
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { bundledCatalog } from '#vpp/binapi/catalog.ts';
import type { Reader } from '#vpp/binapi/codec/runtime.ts';
import { Writer } from '#vpp/binapi/codec/writer.ts';
import { FrameReader, writeFrame } from '#vpp/binapi/frame.ts';
import { HANDSHAKE_ID } from '#vpp/binapi/handshake-ids.ts';

export interface RawRequest {
  readonly name: string;
  readonly fields: object;
}

interface Greeting {
  readonly index: number;
  readonly message_table: readonly { readonly index: number; readonly name: string }[];
}

export class RawClient {
  readonly #socket: Socket;
  readonly #frames = new FrameReader();
  readonly #ids = new Map<string, number>();
  #clientIndex = 0;
  #onReply: (reader: Reader) => void = () => undefined;

  static async connect(path: string): Promise<RawClient> {
    const socket = createConnection(path);
    await once(socket, 'connect');
    const client = new RawClient(socket);
    await client.#handshake();
    return client;
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => this.#frames.push(chunk, (reader) => this.#onReply(reader)));
  }

  close(): void {
    this.#socket.destroy();
  }

  async #handshake(): Promise<void> {
    const catalog = bundledCatalog();
    const writer = new Writer(128);
    const fields = { name: 'bench' };
    writeFrame(writer, catalog.codec('sockclnt_create'), fields, HANDSHAKE_ID, 0, 0);
    const reply = new Promise<Greeting>((resolve) => {
      this.#onReply = (reader) =>
        resolve(catalog.codec('sockclnt_create_reply').decode(reader) as Greeting);
    });
    this.#socket.write(writer.bytes.subarray(0, writer.length));
    const { index, message_table } = await reply;
    this.#clientIndex = index;
    for (const entry of message_table) this.#ids.set(entry.name, entry.index);
  }

  /**
   * Encodes and sends all requests, `window` of them in flight.
   * @returns milliseconds until the last reply
   * @throws when VPP refuses a request
   */
  async pipeline(requests: readonly RawRequest[], window: number): Promise<number> {
    const start = performance.now();
    let sent = 0;
    let answered = 0;
    let refused = 0;
    const send = (upTo: number) => {
      const writer = new Writer(256 * Math.max(1, upTo - sent));
      for (; sent < upTo; sent++) this.#pack(writer, requests[sent] as RawRequest, sent);
      this.#socket.write(writer.bytes.subarray(0, writer.length));
    };
    await new Promise<void>((resolve) => {
      // In every reply the return value follows message id and context.
      this.#onReply = ({ view, position }) => {
        if (view.getInt32(position + 6) !== 0) refused++;
        if (++answered === requests.length) resolve();
      };
      const more = () => {
        const upTo = Math.min(requests.length, answered + window);
        if (upTo > sent) send(upTo);
      };
      this.#socket.on('data', more);
      more();
    });
    this.#socket.removeAllListeners('data');
    this.#socket.on('data', (chunk) => this.#frames.push(chunk, (reader) => this.#onReply(reader)));
    if (refused > 0) throw new Error(`VPP refused ${refused} raw requests`);
    return performance.now() - start;
  }

  #pack(writer: Writer, { name, fields }: RawRequest, context: number): void {
    const codec = bundledCatalog().codec(name);
    const id = this.#ids.get(codec.tableName);
    if (id === undefined) throw new Error(`VPP has no ${name}`);
    writeFrame(writer, codec, fields, id, this.#clientIndex, context);
  }
}
