import assert from 'node:assert/strict';
import { createServer, type Http2Session, type IncomingHttpHeaders } from 'node:http2';
import { type Duplex, duplexPair } from 'node:stream';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { seededRandom } from '#infra/clock/manual.ts';
import { AuthorityFilter } from '#infra/grpc/http2/authority-filter.ts';
import { FilteredConnection } from '#infra/grpc/http2/filtered-connection.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { connectionBytes, frame, type Http2Request, PREFACE, pieces } from './http2-client.ts';

const FILE = 'test/infra/grpc/http2/authority-filter.test.ts';

const WORD_CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789-._~%';

const authorities = fc.string({
  unit: fc.constantFrom(...`${WORD_CHARACTERS}//////:`),
  minLength: 1,
  maxLength: 60,
});
const values = fc.oneof(
  fc.string({ unit: fc.constantFrom(...`${WORD_CHARACTERS}/ABCXYZ#<>^|`), minLength: 1 }),
  // a few of these fill the dynamic table
  fc.string({ unit: fc.constantFrom(...'a/Z'), minLength: 300, maxLength: 1500 }),
);
const requests: fc.Arbitrary<Http2Request> = fc
  .record({
    authority: fc.oneof(fc.constant('/var/run/contiv/cni.sock'), authorities),
    path: fc.constantFrom('/', '/cni.RemoteCNI/Add', '/index.html'),
    others: fc.uniqueArray(
      fc.tuple(fc.constantFrom('x-a', 'x-b', 'x-long-name', 'cookie2', 'te2'), values),
      { selector: ([name]) => name, maxLength: 4 },
    ),
    // a server may refuse the second pseudo-header behind another, so their order is drawn as well
    order: fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 }),
    body: fc.uint8Array({ maxLength: 40 }),
  })
  .map(({ authority, path, others, order, body }) => {
    const pseudo = [
      [':method', 'POST'],
      [':scheme', 'http'],
      [':path', path],
      [':authority', authority],
    ] as const;
    return { fields: [...order.map((at) => pseudo[at]!), ...others], body: Buffer.from(body) };
  });

/** The headers that the HTTP/2 of Node.js reads from the bytes of a client. */
async function headersRead(
  chunks: readonly Buffer[],
  count: number,
  connect: (accepted: Duplex) => Duplex = (accepted) => new FilteredConnection(accepted),
): Promise<readonly IncomingHttpHeaders[]> {
  const seen: IncomingHttpHeaders[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const server = createServer();
  let session: Http2Session | undefined;
  server.on('session', (opened) => {
    session = opened;
    opened.on('error', reject);
    opened.on('close', () => reject(new Error(`closed after ${seen.length} requests`)));
  });
  server.on('stream', (stream, headers) => {
    seen.push(headers);
    stream.on('error', reject);
    if (!stream.destroyed) stream.respond({ ':status': 204 }, { endStream: true });
    if (seen.length === count) resolve();
  });
  const [client, accepted] = duplexPair();
  const replies: Buffer[] = [];
  client.on('data', (piece: Buffer) => {
    replies.push(piece);
    const code = resetIn(Buffer.concat(replies));
    if (code !== 0) reject(new Error(`the server reset a stream with code ${code}`));
  });
  server.emit('connection', connect(accepted));
  for (const chunk of chunks) if (chunk.length > 0) client.write(chunk);
  try {
    await promise;
  } finally {
    session?.destroy();
    client.destroy();
  }
  return seen;
}

/** @returns the error code of the first RST_STREAM frame; 0 for none */
function resetIn(bytes: Buffer): number {
  for (let at = 0; at + 13 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3))
    if (bytes[at + 3] === 3 && bytes.readUInt32BE(at + 9) !== 0) return bytes.readUInt32BE(at + 9);
  return 0;
}

function filtered(chunks: readonly Buffer[]): Buffer {
  const filter = new AuthorityFilter();
  return Buffer.concat([...chunks.flatMap((chunk) => filter.filter(chunk)), ...filter.end()]);
}

describe('the HTTP/2 of Node.js', () => {
  // when this fails, the filter is not needed any more
  it('rejects a slash in :authority', async () => {
    const fields = [
      [':method', 'POST'],
      [':scheme', 'http'],
      [':path', '/'],
    ] as const;
    const sent = (authority: string) =>
      connectionBytes(
        [{ fields: [...fields, [':authority', authority]], body: Buffer.alloc(0) }],
        seededRandom(1),
      );
    const read = (authority: string) => headersRead([sent(authority)], 1, (accepted) => accepted);
    assert.equal((await read('agent'))[0]![':authority'], 'agent');
    await assert.rejects(read('/run/cni.sock'), /reset a stream with code 1/);
  });
});

describe('the authority filter', () => {
  const same = 'lets the server read what the client sent, except slashes in :authority';
  it(same, () =>
    checkProperty(
      { file: FILE, name: same },
      400,
      fc.asyncProperty(
        fc.array(requests, { minLength: 1, maxLength: 12 }),
        fc.integer(),
        fc.integer({ min: 0, max: 60 }),
        async (sent, seed, cuts) => {
          const random = seededRandom(seed);
          const chunks = pieces(connectionBytes(sent, random), random, cuts);
          const read = await headersRead(chunks, sent.length);
          for (const [at, { fields }] of sent.entries()) {
            const expected = fields.map(([name, value]) => [
              name,
              name === ':authority' ? value.replaceAll('/', '_') : value,
            ]);
            assert.deepEqual(
              Object.fromEntries(Object.entries(read[at]!)),
              Object.fromEntries(expected),
            );
          }
        },
      ),
    ),
  );

  const split = 'changes the same bytes wherever they are split, and no length';
  it(split, () =>
    checkProperty(
      { file: FILE, name: split },
      300,
      fc.asyncProperty(
        fc.array(requests, { minLength: 1, maxLength: 6 }),
        fc.integer(),
        async (sent, seed) => {
          const bytes = connectionBytes(sent, seededRandom(seed));
          const whole = filtered([Buffer.from(bytes)]);
          assert.equal(whole.length, bytes.length);
          const single = [...bytes].map((byte) => Buffer.from([byte]));
          assert.deepEqual(filtered(single), whole);
        },
      ),
    ),
  );

  const malformed = 'lets malformed bytes pass as they are';
  it(malformed, () =>
    checkProperty(
      { file: FILE, name: malformed },
      500,
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 400 }),
        fc.constantFrom(0, 0x4, 0xc, 0x2c),
        fc.integer(),
        async (noise, flags, seed) => {
          const random = seededRandom(seed);
          const header = frame(1, flags, 1, Buffer.from(noise));
          const bytes = Buffer.concat([PREFACE, header, Buffer.from(noise)]);
          const out = filtered(pieces(Buffer.from(bytes), random, 10));
          assert.equal(out.length, bytes.length);
          // an authority that happens to be in the noise may lose its slashes, nothing else changes
          for (const [at, byte] of out.entries())
            if (byte !== bytes[at]) assert.ok(at > PREFACE.length + 9 && flags !== 0);
        },
      ),
    ),
  );

  it('lets a block pass whole that is malformed only at its end', () => {
    const plain = (text: string) => Buffer.from([text.length, ...Buffer.from(text)]);
    const field = Buffer.concat([Buffer.from([0x41]), plain('/run/cni.sock')]);
    const good = Buffer.concat([PREFACE, frame(1, 0x4, 1, field)]);
    assert.equal(
      filtered([Buffer.from(good)])
        .toString('latin1')
        .slice(-13),
      '_run_cni.sock',
    );
    const endings = {
      'index 0': [0x80],
      'index beyond the tables': [0xbf],
      'integer without end': [0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
      'string beyond the end': [0x41, 0x05, 0x2f],
      'missing string': [0x41],
      'missing name': [0x40],
      'table that is larger than announced': [0x3f, 0xe2, 0x1f],
      'Huffman padding with zeros': [0x41, 0x81, 0x18],
      'Huffman padding of a byte': [0x41, 0x81, 0xff],
      'Huffman end of string': [0x41, 0x84, 0xff, 0xff, 0xff, 0xff],
    };
    for (const [name, ending] of Object.entries(endings)) {
      const bytes = Buffer.concat([
        PREFACE,
        frame(1, 0x4, 1, Buffer.concat([field, Buffer.from(ending)])),
        frame(1, 0x4, 3, field),
      ]);
      assert.deepEqual(filtered([Buffer.from(bytes)]), bytes, name);
    }
  });

  it('holds back one header block of bounded size', () => {
    for (const [payload, count] of [
      [16_384, 100],
      [0, 100_000],
    ] as const) {
      const filter = new AuthorityFilter();
      let kept = 0;
      let most = 0;
      const feed = (bytes: Buffer) => {
        kept += bytes.length;
        for (const piece of filter.filter(bytes)) kept -= piece.length;
        most = Math.max(most, kept);
      };
      feed(PREFACE);
      feed(frame(1, 0, 1, Buffer.alloc(payload)));
      for (let at = 0; at < count; at++) feed(frame(9, 0, 1, Buffer.alloc(payload)));
      assert.ok(most <= 9 * (16_384 + 9), `${most} bytes`);
      assert.equal(kept, 0);
    }
  });

  it('passes DATA frames without a copy', () => {
    const filter = new AuthorityFilter();
    const chunk = Buffer.concat([PREFACE, frame(0, 0, 1, Buffer.alloc(1000))]);
    const out = filter.filter(chunk);
    assert.equal(out.at(-1)!.buffer, chunk.buffer);
    assert.equal(out.at(-1)!.length, 1000);
  });
});
