/**
 * replay.ts <API socket of VPP>: replays recorded messages to VPP and batches to the kernel without an
 * agent. An entry waits for the answers that were recorded before it, and for nothing else. Reads
 * one `ReplayRequest` a line and prints a `ReplayResult` for each.
 *
 * VPP makes all TAPs in its own namespace here, and the kernel moves them, as before VPP made them in place: the
 * reference stays the same.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';
import type { NamespacePath } from '#linux/api.ts';
import type { Command } from '#linux/kernel/commands.ts';
import { SocketRegister } from '#linux/kernel/socket-register.ts';
import { bundledCatalog } from '#vpp/binapi/catalog.ts';
import { Writer } from '#vpp/binapi/codec/writer.ts';
import { FrameReader } from '#vpp/binapi/frame.ts';
import { HANDSHAKE_ID, HANDSHAKE_REPLY_ID } from '#vpp/binapi/handshake-ids.ts';
import { answersOf } from './kernel-answers.ts';
import type { RecordedEntry, ReplayRequest, ReplayResult } from './recording.ts';

const LIMIT_MS = 10_000;

/** A message without its frame header: id and context; in a request also the client index. */
type Message = Buffer;

/** Replies by context; events have no context and are ignored. */
class Replies {
  readonly #byContext = new Map<number, Message[]>();
  readonly #events = new Set<number>();
  /** Numbers of the messages of dumps, which contain times. */
  readonly details = new Set<number>();
  clientIndex = 0;
  /** Number of the message that creates a TAP. */
  tapCreate: number | undefined;

  /** @returns whether it is a reply */
  add(message: Message): boolean {
    const id = message.readUInt16BE(0);
    if (id === HANDSHAKE_REPLY_ID) this.#readHandshake(message);
    if (this.#events.has(id)) return false;
    const context = message.readUInt32BE(2);
    const all = this.#byContext.get(context) ?? [];
    this.#byContext.set(context, all);
    all.push(message);
    return true;
  }

  at(context: number, n: number): Message | undefined {
    return this.#byContext.get(context)?.[n];
  }

  count(context: number): number {
    return this.#byContext.get(context)?.length ?? 0;
  }

  #readHandshake(message: Message): void {
    const { index, message_table } = bundledCatalog()
      .codec('sockclnt_create_reply')
      .decode(readerOf(message)) as {
      index: number;
      message_table: { index: number; name: string }[];
    };
    this.clientIndex = index;
    this.tapCreate = message_table.find(({ name }) => name === tapCodec.tableName)?.index;
    for (const { name, index } of message_table)
      if (/_event_[0-9a-f]{8}$/.test(name)) this.#events.add(index);
      else if (/_details_[0-9a-f]{8}$/.test(name)) this.details.add(index);
  }
}

function readerOf(message: Message) {
  const view = new DataView(message.buffer, message.byteOffset, message.length);
  return { bytes: message, view, position: 0, end: message.length };
}

const tapCodec = bundledCatalog().codec('tap_create_v3');

/** The same TAP, made in the namespace of VPP. */
function inOwnNamespace(message: Message): Message {
  const fields = tapCodec.decode(readerOf(message));
  const writer = new Writer(message.length);
  const made = { ...fields, host_namespace_set: false, host_namespace: '' };
  const [id, context] = [message.readUInt16BE(0), message.readUInt32BE(tapCodec.contextOffset!)];
  tapCodec.encode(writer, made, id, 0, context);
  return writer.bytes.subarray(0, writer.length);
}

/** Splits a byte stream into messages. */
function messageSplitter(onMessage: (message: Message) => void): (bytes: Buffer) => void {
  const frames = new FrameReader();
  return (bytes) =>
    frames.push(bytes, ({ bytes: all, position, end }) =>
      onMessage(Buffer.from(all.subarray(position, end))),
    );
}

class Replayer {
  readonly #socket: Socket;
  readonly #actualReplies = new Replies();
  readonly #recordedReplies = new Replies();
  readonly #running = new Map<number, Promise<unknown>>();
  readonly #cutSent = messageSplitter((message) => this.#send(message));
  readonly #recorded: Message[] = [];
  readonly #cutReceived = messageSplitter((message) => void this.#recorded.push(message));
  #arrived = Promise.withResolvers<void>();

  constructor(socket: Socket) {
    this.#socket = socket;
    const cut = messageSplitter((message) => void this.#actualReplies.add(message));
    socket.on('data', (bytes) => {
      cut(bytes as Buffer);
      this.#arrived.resolve();
      this.#arrived = Promise.withResolvers();
    });
  }

  async replay({ entries, namespaces }: ReplayRequest): Promise<ReplayResult> {
    const start = performance.now();
    for (const entry of entries) await this.#apply(entry, namespaces);
    return { ms: performance.now() - start };
  }

  async #apply(entry: RecordedEntry, namespaces: ReplayRequest['namespaces']): Promise<void> {
    if (entry.kind === 'sent') this.#cutSent(Buffer.from(entry.bytes, 'base64'));
    else if (entry.kind === 'started') this.#running.set(entry.id, run(entry.batch, namespaces));
    else if (entry.kind === 'ended') await this.#running.get(entry.id);
    else {
      this.#cutReceived(Buffer.from(entry.bytes, 'base64'));
      for (const message of this.#recorded.splice(0))
        if (this.#recordedReplies.add(message)) await this.#expectSameReply(message);
    }
  }

  /** Replaces the client index: this connection has another one than the recorded. */
  #send(recorded: Message): void {
    const isTap = recorded.readUInt16BE(0) === this.#actualReplies.tapCreate;
    const message = isTap ? inOwnNamespace(recorded) : recorded;
    if (message.readUInt16BE(0) !== HANDSHAKE_ID)
      message.writeUInt32BE(this.#actualReplies.clientIndex, 2);
    const header = Buffer.alloc(16);
    header.writeUInt32BE(message.length, 8);
    this.#socket.write(Buffer.concat([header, message]));
  }

  /** Waits for the recorded reply. @throws when VPP replies differently here */
  async #expectSameReply(recorded: Message): Promise<void> {
    const context = recorded.readUInt32BE(2);
    const n = this.#recordedReplies.count(context) - 1;
    const end = performance.now() + LIMIT_MS;
    let reply = this.#actualReplies.at(context, n);
    for (; !reply; reply = this.#actualReplies.at(context, n)) {
      if (performance.now() > end) throw new Error(`no reply ${n} with context ${context}`);
      await this.#arrived.promise;
    }
    // Id, context and, in most replies, the return value.
    const isSame = reply.subarray(0, 10).equals(recorded.subarray(0, 10));
    const id = recorded.readUInt16BE(0);
    if (!isSame && id !== HANDSHAKE_REPLY_ID && !this.#recordedReplies.details.has(id))
      throw new Error(
        `replies differ: recorded ${recorded.toString('hex')}, actual ${reply.toString('hex')}`,
      );
  }
}

const kernel = new Worker(new URL('../../src/linux/kernel/thread.ts', import.meta.url), {
  workerData: new SocketRegister().memory,
});

/** One batch after the other, as the agent sends them. */
let lastBatch: Promise<unknown> = Promise.resolve();

function run(batch: readonly Command[], namespaces: ReplayRequest['namespaces']): Promise<unknown> {
  lastBatch = lastBatch.then(() => {
    const answered = answersOf(kernel, batch.length);
    kernel.postMessage(batch.map((command) => elsewhere(command, namespaces)));
    return answered;
  });
  return lastBatch;
}

/** The command in the namespaces of the replaying node. */
function elsewhere(command: Command, namespaces: ReplayRequest['namespaces']): Command {
  // the agent looks for its links in all namespaces of the machine; to read them changes nothing
  if (command.kind === 'dump') return command;
  const place = (path: NamespacePath, name: string): NamespacePath =>
    /^tap-\d+$/.test(name) ? undefined : mapped(path, namespaces);
  const namespace =
    'name' in command
      ? place(command.namespace, command.name)
      : mapped(command.namespace, namespaces);
  if (command.kind === 'createVeth') {
    const peer = { ...command.peer, namespace: mapped(command.peer.namespace, namespaces) };
    return { ...command, namespace, peer };
  }
  if (command.kind === 'moveLink') {
    const to = { ...command.to, namespace: place(command.to.namespace, command.to.name) };
    return { ...command, namespace, to };
  }
  return { ...command, namespace };
}

/** @throws when the path is not mapped: namespaces of the recorded node must not be changed */
function mapped(path: NamespacePath, namespaces: ReplayRequest['namespaces']): NamespacePath {
  if (path === undefined) return undefined;
  const other = namespaces[path];
  if (other === undefined) throw new Error(`unknown namespace ${path}`);
  return other;
}

const socket = connect(process.argv[2]!);
await once(socket, 'connect');
const player = new Replayer(socket);
for await (const line of createInterface(process.stdin)) {
  const played = await player.replay(JSON.parse(line) as ReplayRequest);
  process.stdout.write(`${JSON.stringify(played)}\n`);
}
socket.destroy();
await kernel.terminate();
