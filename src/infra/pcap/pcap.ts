/** Files of pcap, as VPP writes them: little-endian, with the times in microseconds. */

const HEADER_LENGTH = 24;
const RECORD_HEADER_LENGTH = 16;
const MICROSECONDS_AT = 4;
const LENGTH_AT = 8;

export interface Pcap {
  /** Of the file; empty: it has no packet. */
  readonly header: Buffer;
  readonly records: readonly PcapRecord[];
}

export interface PcapRecord {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** With its header. */
  readonly bytes: Buffer;
  readonly packet: Buffer;
}

export function parsePcap(file: Buffer): Pcap {
  const records: PcapRecord[] = [];
  for (let at = HEADER_LENGTH; at + RECORD_HEADER_LENGTH <= file.length; ) {
    const start = at + RECORD_HEADER_LENGTH;
    const end = start + file.readUInt32LE(at + LENGTH_AT);
    // The last one may be cut.
    if (end > file.length) break;
    const time = 1_000 * file.readUInt32LE(at) + file.readUInt32LE(at + MICROSECONDS_AT) / 1_000;
    records.push({ time, bytes: file.subarray(at, end), packet: file.subarray(start, end) });
    at = end;
  }
  return { header: file.subarray(0, HEADER_LENGTH), records };
}
