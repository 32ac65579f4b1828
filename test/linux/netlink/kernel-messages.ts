/** Messages as the kernel sends them. */
import { decodeMessages, encodeRequest, type Message } from '#linux/netlink/messages.ts';

export const DONE = 3;
export const ERROR = 2;

export function datagram(
  type: number,
  body: Uint8Array,
  { sequence = 1, flags = 0 }: { readonly sequence?: number; readonly flags?: number } = {},
): Buffer {
  const bytes = encodeRequest({ type, flags, body }, sequence);
  return Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);
}

export function message(type: number, body: Uint8Array): Message {
  return decodeMessages(datagram(type, body))[0]!;
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}
