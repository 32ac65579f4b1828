/** A fake VPP whose answers, including invalid ones, are scripted per message by the test. */
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import type { Connect, Transport } from '#vpp/binapi/api.ts';
import { bundledCatalog } from '#vpp/binapi/catalog.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import type { BinapiClientOptions } from '#vpp/binapi/client/options.ts';
import type { MessageCodec } from '#vpp/binapi/codec/codec.ts';
import type { Reader } from '#vpp/binapi/codec/runtime.ts';
import { Writer } from '#vpp/binapi/codec/writer.ts';
import { FrameReader, writeFrame } from '#vpp/binapi/frame.ts';
import { memoryPair } from '#vpp/binapi/transport/memory.ts';

export interface Received {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly context: number;
}

export type Script = (message: Received, vpp: ScriptedVpp) => void;

const catalog = bundledCatalog();

export class ScriptedVpp {
  /** Requests since the last connect, without the handshake. */
  received: Received[] = [];
  /** Number of writes by the client since the last connect. */
  writes = 0;
  connects = 0;
  clientName = '';
  /** While set, connecting fails. */
  isDown = false;
  /** While set, no message is answered, not even the handshake. */
  isHung = false;
  /** `<name>_<crc>` of messages that are missing in the message table. */
  readonly absent = new Set<string>();
  /** Scripts by message name; control_ping is answered by default. */
  readonly scripts = new Map<string, Script>();
  transport: Transport | undefined;
  readonly #ids = new Map<MessageCodec, number>();
  readonly #codecs = new Map<number, MessageCodec>();

  constructor() {
    // IDs with gaps, in another order than that of the definitions
    [...catalog.codecs.values()].reverse().forEach((codec, i) => {
      this.#ids.set(codec, 20 + 3 * i);
      this.#codecs.set(20 + 3 * i, codec);
    });
    this.scripts.set('control_ping', ({ context }) =>
      this.reply('control_ping_reply', { retval: 0, vpe_pid: 1 }, context),
    );
  }

  readonly connect: Connect = async () => {
    if (this.isDown) throw new Error('connection refused');
    const [client, server] = memoryPair();
    const frames = new FrameReader();
    this.transport = server;
    this.connects++;
    this.received = [];
    this.writes = 0;
    server.onData = (bytes) => {
      this.writes++;
      frames.push(bytes, (reader) => this.#take(reader));
    };
    return client;
  };

  /** Answers all messages of a name with the fields that the function returns. */
  answer(name: string, reply: string, fields: (message: Received) => object): void {
    this.scripts.set(name, (message) => this.reply(reply, fields(message), message.context));
  }

  /** Encodes a message in a frame, as VPP does. */
  frame(name: string, fields: object, context = 0): Buffer {
    const codec = catalog.codec(name);
    const writer = new Writer(64);
    writeFrame(writer, codec, fields, this.#ids.get(codec)!, 1, context);
    return writer.bytes.subarray(0, writer.length);
  }

  reply(name: string, fields: object, context = 0): void {
    this.send(this.frame(name, fields, context));
  }

  send(bytes: Uint8Array): void {
    this.transport?.write(bytes);
  }

  messageId(name: string): number {
    return this.#ids.get(catalog.codec(name))!;
  }

  hangUp(): void {
    this.transport?.close();
  }

  #take(reader: Reader): void {
    if (this.isHung) return;
    const id = reader.view.getUint16(reader.position);
    if (id === 15) {
      const create = catalog.codec('sockclnt_create').decode(reader) as { name: string };
      this.clientName = create.name;
      this.#greet();
      return;
    }
    const codec = this.#codecs.get(id)!;
    const context = reader.view.getUint32(reader.position + codec.contextOffset!);
    const fields = codec.decode(reader) as Record<string, unknown>;
    const message = { name: codec.name, fields, context };
    this.received.push(message);
    this.scripts.get(codec.name)?.(message, this);
  }

  #greet(): void {
    const table = [...this.#ids]
      .filter(([codec]) => !this.absent.has(codec.tableName))
      .map(([codec, index]) => ({ index, name: codec.tableName }));
    const codec = catalog.codec('sockclnt_create_reply');
    const writer = new Writer(64);
    writeFrame(writer, codec, { response: 0, index: 77, message_table: table }, 16, 77, 0);
    this.send(writer.bytes.subarray(0, writer.length));
  }
}

/** Waits for all work that needs no timer. */
export async function settle(turns = 8): Promise<void> {
  for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
}

export interface Logged {
  readonly level: string;
  readonly fields: Record<string, unknown>;
  readonly text: string;
}

export function recordingLog(): { readonly log: Logger; readonly lines: Logged[] } {
  const lines: Logged[] = [];
  const write =
    (level: string) =>
    (fields: unknown, text?: string): void => {
      lines.push({ level, fields: fields as Record<string, unknown>, text: text ?? '' });
    };
  const log: Logger = {
    ...silentLogger,
    warn: write('warn') as Logger['warn'],
    error: write('error') as Logger['error'],
  };
  return { log, lines };
}

export interface ScriptedClient {
  readonly vpp: ScriptedVpp;
  readonly client: BinapiClient;
  readonly clock: ManualClock;
  readonly lines: Logged[];
}

/** A client that is connected to a scripted VPP. Health probes are off by default. */
export async function connected(
  options: Partial<BinapiClientOptions> = {},
): Promise<ScriptedClient> {
  const bench = unconnected(options);
  bench.client.start();
  await bench.client.whenConnected();
  return bench;
}

export function unconnected(options: Partial<BinapiClientOptions> = {}): ScriptedClient {
  const vpp = new ScriptedVpp();
  const clock = new ManualClock();
  const { log, lines } = recordingLog();
  const client = new BinapiClient({
    connect: vpp.connect,
    clock,
    random: seededRandom(1),
    log,
    health: { intervalMs: 1e9, timeoutMs: 500, maxMisses: 3 },
    ...options,
  });
  return { vpp, client, clock, lines };
}
