/** Messages of IPFIX (RFC 7011), as far as flowprobe of VPP sends them: a header and sets. */

export interface IpfixSet {
  readonly id: number;
  readonly bytes: Buffer;
}

export interface IpfixMessage {
  readonly sequence: number;
  readonly sets: readonly IpfixSet[];
}

const VERSION = 10;
const HEADER = 16;
const SET_HEADER = 4;

/** @returns undefined: it is no message of IPFIX */
export function readMessage(bytes: Buffer): IpfixMessage | undefined {
  if (bytes.length < HEADER || bytes.readUInt16BE(0) !== VERSION) return undefined;
  if (bytes.readUInt16BE(2) !== bytes.length) return undefined;
  const sets: IpfixSet[] = [];
  for (let at = HEADER; at < bytes.length; ) {
    if (bytes.length - at < SET_HEADER) return undefined;
    const length = bytes.readUInt16BE(at + 2);
    if (length < SET_HEADER || length > bytes.length - at) return undefined;
    sets.push({
      id: bytes.readUInt16BE(at),
      bytes: bytes.subarray(at + SET_HEADER, at + length),
    });
    at += length;
  }
  return { sequence: bytes.readUInt32BE(8), sets };
}
