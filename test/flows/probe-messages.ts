/** Messages as flowprobe of VPP sends them. */
import { parseIp } from '#models/ip.ts';

export interface Sent {
  readonly protocol?: number;
  readonly rx?: number;
  readonly tx?: number;
  readonly isOutput?: boolean;
  readonly packets?: number;
  readonly bytes?: number;
  /** Milliseconds since the epoch. */
  readonly begun?: number;
  readonly last?: number;
  readonly source: string;
  readonly destination: string;
  readonly sourcePort?: number;
  readonly destinationPort?: number;
  readonly flags?: number;
}

const NTP_EPOCH = 2_208_988_800;

export const SYN = 2;
export const ACK = 16;

const common = [
  [10, 4],
  [14, 4],
  [61, 1],
  [2, 8],
  [156, 8],
  [157, 8],
];
const tail = [
  [4, 1],
  [1, 8],
  [7, 2],
  [11, 2],
  [6, 2],
];
export const TEMPLATE_4 = 256;
export const TEMPLATE_6 = 257;

export function message(sequence: number, id: number, set: Buffer): Buffer {
  const head = Buffer.alloc(20);
  head.writeUInt16BE(10, 0);
  head.writeUInt16BE(20 + set.length, 2);
  head.writeUInt32BE(sequence >>> 0, 8);
  head.writeUInt32BE(1, 12);
  head.writeUInt16BE(id, 16);
  head.writeUInt16BE(4 + set.length, 18);
  return Buffer.concat([head, set]);
}

export function template(sequence: number, id: number): Buffer {
  const address =
    id === TEMPLATE_4
      ? [
          [8, 4],
          [12, 4],
        ]
      : [
          [27, 16],
          [28, 16],
        ];
  const elements = [...common, ...address, ...tail];
  const set = Buffer.alloc(4 + 4 * elements.length);
  set.writeUInt16BE(id, 0);
  set.writeUInt16BE(elements.length, 2);
  for (const [at, [element, length]] of elements.entries()) {
    set.writeUInt16BE(element!, 4 + 4 * at);
    set.writeUInt16BE(length!, 6 + 4 * at);
  }
  return message(sequence, 2, set);
}

/** Records of one family. */
export function data(sequence: number, ...records: readonly Sent[]): Buffer {
  const id = records[0]?.source.includes(':') ? TEMPLATE_6 : TEMPLATE_4;
  return message(sequence, id, Buffer.concat(records.map(record)));
}

function record(sent: Sent): Buffer {
  const { protocol = 6, rx = 1, tx = 0xffff_ffff, isOutput = false } = sent;
  const { packets = 1, bytes = 60, begun = 1_000, last = begun, flags = 0 } = sent;
  const addresses = [sent.source, sent.destination].map((text) => Buffer.from(parseIp(text)!));
  const front = Buffer.alloc(33);
  front.writeUInt32BE(rx, 0);
  front.writeUInt32BE(tx, 4);
  front[8] = isOutput ? 1 : 0;
  front.writeBigUInt64BE(BigInt(packets), 9);
  for (const [at, time] of [begun, last].entries()) {
    front.writeUInt32BE((Math.floor(time / 1_000) + NTP_EPOCH) >>> 0, 17 + 8 * at);
    front.writeUInt32BE(Math.round((time % 1_000) * 1e6), 21 + 8 * at);
  }
  const rest = Buffer.alloc(15);
  rest[0] = protocol;
  rest.writeBigUInt64BE(BigInt(bytes), 1);
  rest.writeUInt16BE(sent.sourcePort ?? 40_000, 9);
  rest.writeUInt16BE(sent.destinationPort ?? 80, 11);
  rest.writeUInt16BE(flags, 13);
  return Buffer.concat([front, ...addresses, rest]);
}
