/** A thread that answers every frame with a canned control_ping_reply, as cheaply as it can. */
import { createServer } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { bundledCatalogue } from '#southbound/vpp/binapi/catalogue.ts';
import { Writer } from '#southbound/vpp/binapi/codec/writer.ts';
import { writeFrame } from '#southbound/vpp/binapi/frame.ts';

const catalogue = bundledCatalogue();
const codecs = [...catalogue.codecs.values()];
const table = codecs.map((codec, i) => ({ index: 20 + i, name: codec.tableName }));
const replyId = 20 + codecs.indexOf(catalogue.codec('control_ping_reply'));

function frame(name: string, fields: object, id: number): Buffer {
  const writer = new Writer(64);
  writeFrame(writer, catalogue.codec(name), fields, id, 1, 0);
  return Buffer.from(writer.bytes.subarray(0, writer.length));
}

const greeting = frame(
  'sockclnt_create_reply',
  { response: 0, index: 1, message_table: table },
  16,
);
const pong = frame('control_ping_reply', { retval: 0, vpe_pid: 1 }, replyId);
const pingLength = 16 + 10;

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
    const count = Math.floor(bytes.length / pingLength);
    const out = Buffer.allocUnsafe(count * pong.length);
    for (let i = 0; i < count; i++) {
      out.set(pong, i * pong.length);
      bytes.copy(out, i * pong.length + 18, i * pingLength + 22, i * pingLength + 26);
    }
    rest = bytes.subarray(count * pingLength);
    socket.write(out);
  });
  socket.on('error', () => socket.destroy());
}).listen(workerData as string, () => parentPort?.postMessage('ready'));
