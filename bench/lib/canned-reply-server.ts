/** A thread that answers every request of one kind with a canned reply, at the lowest possible cost. */
import { createServer } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { bundledCatalog } from '#vpp/binapi/catalog.ts';
import { Writer } from '#vpp/binapi/codec/writer.ts';
import { writeFrame } from '#vpp/binapi/frame.ts';

export interface CannedReply {
  readonly path: string;
  /** Bytes of a request with its frame header; all requests have the same length. */
  readonly requestLength: number;
  readonly reply: string;
  readonly fields: object;
}

const { path, requestLength, reply, fields } = workerData as CannedReply;
const catalog = bundledCatalog();
const codecs = [...catalog.codecs.values()];
const table = codecs.map((codec, i) => ({ index: 20 + i, name: codec.tableName }));
const replyId = 20 + codecs.indexOf(catalog.codec(reply));

function frame(name: string, values: object, id: number): Buffer {
  const writer = new Writer(64);
  writeFrame(writer, catalog.codec(name), values, id, 1, 0);
  return Buffer.from(writer.bytes.subarray(0, writer.length));
}

const greeting = frame(
  'sockclnt_create_reply',
  { response: 0, index: 1, message_table: table },
  16,
);
const answer = frame(reply, fields, replyId);

createServer((socket) => {
  let rest: Buffer = Buffer.alloc(0);
  let isGreeted = false;
  socket.on('data', (chunk: Buffer) => {
    if (!isGreeted) {
      isGreeted = true;
      socket.write(greeting);
      return;
    }
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    const count = Math.floor(bytes.length / requestLength);
    const out = Buffer.allocUnsafe(count * answer.length);
    for (let i = 0; i < count; i++) {
      out.set(answer, i * answer.length);
      // The context follows frame header, id and client index in a request, frame header and id in a reply.
      bytes.copy(out, i * answer.length + 18, i * requestLength + 22, i * requestLength + 26);
    }
    rest = bytes.subarray(count * requestLength);
    socket.write(out);
  });
  socket.on('error', () => socket.destroy());
}).listen(path, () => parentPort?.postMessage('ready'));
