/** Bytes of an HTTP/2 client; where the protocol leaves a choice, it is drawn at random. */
import type { Random } from '#infra/clock/clock.ts';
import { type Field, HpackEncoder } from './hpack-encoder.ts';

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export interface Http2Request {
  readonly fields: readonly Field[];
  readonly body: Buffer;
}

export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}

const settings = frame(4, 0, 0, Buffer.alloc(0));
const ping = frame(6, 0, 0, Buffer.from('HEADERS!'));

/** All bytes of a connection with these requests. */
export function connectionBytes(requests: readonly Http2Request[], random: Random): Buffer {
  const encoder = new HpackEncoder(random);
  const parts = [PREFACE, settings];
  for (const [at, { fields, body }] of requests.entries()) {
    const stream = 2 * at + 1;
    parts.push(...headerFrames(encoder.block(fields), stream, body.length === 0, random));
    if (random.next() < 0.3) parts.push(ping);
    if (body.length > 0) parts.push(frame(0, 1, stream, body));
  }
  return Buffer.concat(parts);
}

function headerFrames(block: Buffer, stream: number, isEnd: boolean, random: Random): Buffer[] {
  const fragments = pieces(block, random, Math.floor(random.next() * 4));
  return fragments.map((fragment, at) => {
    const last = at === fragments.length - 1 ? 0x4 : 0;
    if (at > 0) return frame(9, last, stream, fragment);
    let [flags, payload] = [last | (isEnd ? 1 : 0), fragment];
    if (random.next() < 0.3) {
      flags |= 0x20;
      payload = Buffer.concat([Buffer.from([0, 0, 0, 0, 16]), payload]);
    }
    if (random.next() < 0.3) {
      const padding = Math.floor(random.next() * 40);
      flags |= 0x8;
      payload = Buffer.concat([Buffer.from([padding]), payload, Buffer.alloc(padding)]);
    }
    return frame(1, flags, stream, payload);
  });
}

/** Cuts bytes at random positions; a piece may be empty. */
export function pieces(bytes: Buffer, random: Random, cuts: number): Buffer[] {
  const positions = Array.from({ length: cuts }, () =>
    Math.floor(random.next() * (bytes.length + 1)),
  ).sort((a, b) => a - b);
  return [...positions, bytes.length].map((end, at) => bytes.subarray(positions[at - 1] ?? 0, end));
}
