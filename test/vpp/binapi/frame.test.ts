import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InvalidMessageError } from '#vpp/binapi/api.ts';
import { bundledCatalog } from '#vpp/binapi/catalog.ts';
import { Writer } from '#vpp/binapi/codec/writer.ts';
import { FRAME_HEADER, FrameReader, writeFrame } from '#vpp/binapi/frame.ts';

function frame(payload: Uint8Array): Buffer {
  const header = Buffer.alloc(FRAME_HEADER, 0xab); // VPP does not initialize the other bytes
  header.writeUInt32BE(payload.length, 8);
  return Buffer.concat([header, payload]);
}

function messagesOf(reader: FrameReader, chunks: Iterable<Uint8Array>): string[] {
  const messages: string[] = [];
  for (const chunk of chunks)
    reader.push(chunk, ({ bytes, view, position, end }) => {
      assert.equal(view.getUint8(position), bytes[position]);
      messages.push(bytes.toString('hex', position, end));
    });
  return messages;
}

test('a stream split anywhere gives the same messages', () => {
  const payloads = fc.array(fc.uint8Array({ minLength: 2, maxLength: 400 }), { maxLength: 12 });
  const sizes = fc.array(
    fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 900 })),
    {
      minLength: 1,
      maxLength: 30,
    },
  );
  fc.assert(
    fc.property(payloads, sizes, (list, cuts) => {
      const stream = Buffer.concat(list.map(frame));
      const chunks: Buffer[] = [];
      for (let at = 0, i = 0; at < stream.length; i++) {
        const size = cuts[i % cuts.length]!;
        chunks.push(stream.subarray(at, at + size));
        at += size;
      }
      const reader = new FrameReader();
      const hex = list.map((payload) => Buffer.from(payload).toString('hex'));
      assert.deepEqual(messagesOf(reader, chunks), hex);
      assert.equal(reader.reserved, 0);
    }),
  );
});

test('the declared length of a frame is not allocated before the bytes arrive', () => {
  const reader = new FrameReader();
  const header = Buffer.alloc(FRAME_HEADER);
  header.writeUInt32BE(16 * 1024 * 1024, 8);
  assert.deepEqual(messagesOf(reader, [header, new Uint8Array(1000)]), []);
  assert.ok(reader.reserved <= 4096, `${reader.reserved} bytes`);
});

test('a long frame in small chunks is copied only a few times', { timeout: 20_000 }, () => {
  const reader = new FrameReader();
  const stream = frame(new Uint8Array(4 * 1024 * 1024));
  const chunks = Array.from({ length: Math.ceil(stream.length / 64) }, (_, i) =>
    stream.subarray(i * 64, (i + 1) * 64),
  );
  assert.equal(messagesOf(reader, chunks).length, 1);
});

test('a frame length that no message has is rejected', () => {
  for (const length of [0, 1, 1025, 0xffffffff]) {
    const header = Buffer.alloc(FRAME_HEADER);
    header.writeUInt32BE(length, 8);
    const whole = new FrameReader(1024);
    assert.throws(() => messagesOf(whole, [header]), InvalidMessageError, `${length}`);
    const parts = new FrameReader(1024);
    const bytes = [...header].map((byte) => Uint8Array.of(byte));
    assert.throws(() => messagesOf(parts, [...bytes, new Uint8Array(1)]), InvalidMessageError);
  }
});

test('an invalid message leaves no partial frame in the writer', () => {
  const writer = new Writer(8);
  const codec = bundledCatalog().codec('cli_inband');
  writeFrame(writer, codec, { cmd: 'show version' }, 1, 2, 3);
  const { length } = writer;
  assert.throws(() => writeFrame(writer, codec, { cmd: 5 }, 1, 2, 3), InvalidMessageError);
  assert.equal(writer.length, length);
  writeFrame(writer, codec, { cmd: 'x' }, 1, 2, 3);
  const messages = messagesOf(new FrameReader(), [writer.bytes.subarray(0, writer.length)]);
  assert.equal(messages.length, 2);
});
