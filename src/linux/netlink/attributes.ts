/**
 * Attributes of netlink: length, type, payload, aligned to four bytes. Numbers have the byte order of the
 * machine, which is little-endian wherever Node.js runs this agent.
 */
import { LinuxError } from '../api.ts';

/** Bits of a type that are not part of its number: nested, and byte order of the network. */
const TYPE_MASK = 0x3fff;
const HEADER = 4;

export type Attributes = ReadonlyMap<number, Buffer>;

/** From the pool of Node.js: thousands of small buffers of their own keep the garbage collector busy. */
export function zeros(length: number): Buffer {
  return Buffer.allocUnsafe(length).fill(0);
}

export function aligned(length: number): number {
  return (length + 3) & ~3;
}

export function malformed(what: string): LinuxError {
  return new LinuxError(`the kernel sent a malformed message: ${what}`, { errno: 'EPROTO' });
}

export function attribute(type: number, ...payload: readonly Uint8Array[]): Buffer {
  const length = payload.reduce((sum, { byteLength }) => sum + byteLength, HEADER);
  const bytes = zeros(aligned(length));
  bytes.writeUInt16LE(length, 0);
  bytes.writeUInt16LE(type, 2);
  let at = HEADER;
  for (const part of payload) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return bytes;
}

export function numberAttribute(type: number, value: number): Buffer {
  const bytes = zeros(4);
  bytes.writeUInt32LE(value);
  return attribute(type, bytes);
}

/** With the terminating zero that the kernel expects of names. */
export function textAttribute(type: number, text: string): Buffer {
  return attribute(type, Buffer.from(`${text}\0`));
}

/** The payloads by type. @throws LinuxError on truncated input */
export function attributesOf(bytes: Buffer): Attributes {
  const found = new Map<number, Buffer>();
  for (let at = 0; at < bytes.length; ) {
    if (bytes.length - at < HEADER) throw malformed('truncated attribute');
    const length = bytes.readUInt16LE(at);
    if (length < HEADER || at + length > bytes.length)
      throw malformed(`attribute of ${length} bytes, of which ${bytes.length - at} exist`);
    found.set(bytes.readUInt16LE(at + 2) & TYPE_MASK, bytes.subarray(at + HEADER, at + length));
    at += aligned(length);
  }
  return found;
}

export function numberOf(attributes: Attributes, type: number): number | undefined {
  const bytes = attributes.get(type);
  if (bytes === undefined) return undefined;
  if (bytes.length < 4) throw malformed(`number of ${bytes.length} bytes`);
  return bytes.readUInt32LE();
}

/** Up to the terminating zero. */
export function textOf(attributes: Attributes, type: number): string | undefined {
  const bytes = attributes.get(type);
  if (bytes === undefined) return undefined;
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end < 0 ? bytes.length : end);
}
