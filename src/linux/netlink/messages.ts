/** Messages of netlink: the header, and the kernel's answer to a request. */
import { aligned, attributesOf, malformed, textOf, zeros } from './attributes.ts';

export const HEADER_LENGTH = 16;

export const flags = {
  request: 0x1,
  ack: 0x4,
  root: 0x100,
  match: 0x200,
  replace: 0x100,
  exclusive: 0x200,
  create: 0x400,
} as const;

/** In an answer: the dump was changed while it was read. */
const DUMP_INTERRUPTED = 0x10;
/** In an error: without the request. */
const CAPPED = 0x100;
/** In an error: attributes follow. */
const HAS_ATTRIBUTES = 0x200;

const ERROR = 2;
const DONE = 3;
const ERROR_TEXT = 1;

export interface Request {
  readonly type: number;
  readonly flags: number;
  /** Fixed part of the type, then attributes. */
  readonly body: Uint8Array;
}

export interface Message {
  readonly type: number;
  readonly sequence: number;
  readonly isInterrupted: boolean;
  readonly body: Buffer;
  /** Set if it ends the answer. `errno` 0 is success; the text is the kernel's own. */
  readonly end: { readonly errno: number; readonly text: string | undefined } | undefined;
}

export function encodeRequest(request: Request, sequence: number): Buffer {
  const bytes = zeros(HEADER_LENGTH + request.body.byteLength);
  bytes.writeUInt32LE(bytes.length, 0);
  bytes.writeUInt16LE(request.type, 4);
  bytes.writeUInt16LE(request.flags, 6);
  bytes.writeUInt32LE(sequence, 8);
  bytes.set(request.body, HEADER_LENGTH);
  return bytes;
}

/** The messages of one datagram. @throws LinuxError on truncated input */
export function decodeMessages(bytes: Buffer): readonly Message[] {
  const found: Message[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (bytes.length - at < HEADER_LENGTH) throw malformed('truncated header');
    const length = bytes.readUInt32LE(at);
    if (length < HEADER_LENGTH || at + length > bytes.length)
      throw malformed(`message of ${length} bytes, of which ${bytes.length - at} exist`);
    const bits = bytes.readUInt16LE(at + 6);
    const type = bytes.readUInt16LE(at + 4);
    const body = bytes.subarray(at + HEADER_LENGTH, at + length);
    found.push({
      type,
      sequence: bytes.readUInt32LE(at + 8),
      isInterrupted: (bits & DUMP_INTERRUPTED) !== 0,
      body,
      end: type === ERROR || type === DONE ? endOf(type, bits, body) : undefined,
    });
    at += aligned(length);
  }
  return found;
}

/** A failed dump ends with DONE and its errno. */
function endOf(type: number, bits: number, body: Buffer): NonNullable<Message['end']> {
  if (body.length < 4) {
    if (type === ERROR) throw malformed('error without a number');
    return { errno: 0, text: undefined };
  }
  // of an error the header of the request follows, and the request itself unless it is capped
  let start = 4;
  if (type === ERROR) {
    if (body.length < 4 + HEADER_LENGTH) throw malformed('error without its request');
    const request = (bits & CAPPED) === 0 ? body.readUInt32LE(4) : HEADER_LENGTH;
    start = 4 + aligned(Math.max(request, HEADER_LENGTH));
  }
  const attributes = (bits & HAS_ATTRIBUTES) === 0 ? undefined : attributesOf(body.subarray(start));
  return { errno: -body.readInt32LE(0), text: attributes && textOf(attributes, ERROR_TEXT) };
}
