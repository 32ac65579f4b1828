/** Requests of the bare client in C. */
import { bundledCatalog } from '#vpp/binapi/catalog.ts';
import { Writer } from '#vpp/binapi/codec/writer.ts';
import type { Cost, ReferenceProgram } from '../reference-program.ts';

export interface Pinged extends Cost {
  /** The longest time without a reply. */
  readonly longestMs: number;
}

/** @param counter offset of four bytes to which the number of the request is added; 0: none */
export function bareRequests(
  bare: ReferenceProgram<Pinged>,
  apiSocket: string,
  message: { readonly name: string; readonly fields: object; readonly counter: number },
  count: number,
  window: number,
): Promise<Pinged> {
  const codec = bundledCatalog().codec(message.name);
  const writer = new Writer(512);
  codec.encode(writer, message.fields, 0, 0, 0);
  const hex = Buffer.from(writer.bytes.subarray(0, writer.length)).toString('hex');
  return bare.run(apiSocket, codec.tableName, hex, message.counter, count, window);
}

export const pings = (
  bare: ReferenceProgram<Pinged>,
  apiSocket: string,
  count: number,
  window: number,
): Promise<Pinged> =>
  bareRequests(bare, apiSocket, { name: 'control_ping', fields: {}, counter: 0 }, count, window);
