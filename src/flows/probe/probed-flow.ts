import { formatIp } from '#models/ip.ts';

/** One direction of a flow, as VPP has counted it since its last report. */
export interface ProbedFlow {
  readonly protocol: 'TCP' | 'UDP';
  /** Of the interface of the pod, in VPP. */
  readonly swIfIndex: number;
  /** Whether the pod has sent it. */
  readonly isFromPod: boolean;
  readonly source: FlowAddress;
  readonly destination: FlowAddress;
  readonly packets: number;
  /** Of IP packets, with their headers. */
  readonly bytes: number;
  /** Milliseconds since the epoch, with fractions: the first packet that VPP knows of. */
  readonly begun: number;
  readonly last: number;
  /** Of TCP, of all packets together. */
  readonly isSyn: boolean;
  readonly isFin: boolean;
  readonly isRst: boolean;
}

export interface FlowAddress {
  readonly address: string;
  readonly port: number;
}

/** Number and length of an element of IPFIX, as in a template. */
type Element = readonly [number, number];

const before: readonly Element[] = [
  [10, 4], // ingressInterface
  [14, 4], // egressInterface
  [61, 1], // flowDirection
  [2, 8], // packetDeltaCount
  [156, 8], // flowStartNanoseconds
  [157, 8], // flowEndNanoseconds
];
const after: readonly Element[] = [
  [4, 1], // protocolIdentifier
  [1, 8], // octetDeltaCount
  [7, 2], // sourceTransportPort
  [11, 2], // destinationTransportPort
  [6, 2], // tcpControlBits
];

/** The templates by which VPP reports flows: those of other kinds are not used. */
const templates: readonly (readonly Element[])[] = [
  [...before, [8, 4], [12, 4], ...after],
  [...before, [27, 16], [28, 16], ...after],
];

/** Offset of the addresses in a record. */
const addressesAt = before.reduce((sum, [, length]) => sum + length, 0);

/** @returns the bytes of an address in records of the template; undefined: it is none of flows */
export function addressLength(template: readonly Element[]): 4 | 16 | undefined {
  const text = JSON.stringify(template);
  const found = templates.findIndex((one) => JSON.stringify(one) === text);
  return found < 0 ? undefined : found === 0 ? 4 : 16;
}

export function recordLength(address: 4 | 16): number {
  return addressesAt + 2 * address + after.reduce((sum, [, length]) => sum + length, 0);
}

const TCP = 6;
const UDP = 17;
const FIN = 1;
const SYN = 2;
const RST = 4;
/** Seconds from the epoch of NTP to that of Unix. */
const NTP_EPOCH = 2_208_988_800;

/**
 * @param record has the length of `recordLength`
 * @returns undefined: it is none of TCP or UDP
 */
export function readRecord(record: Buffer, address: 4 | 16): ProbedFlow | undefined {
  const rest = addressesAt + 2 * address;
  const protocol = record[rest];
  if (protocol !== TCP && protocol !== UDP) return undefined;
  const isFromPod = record[8] === 0;
  const flags = record.readUInt16BE(rest + 13);
  const source = formatIp(record.subarray(addressesAt, addressesAt + address));
  const destination = formatIp(record.subarray(addressesAt + address, rest));
  return {
    protocol: protocol === TCP ? 'TCP' : 'UDP',
    swIfIndex: record.readUInt32BE(isFromPod ? 0 : 4),
    isFromPod,
    source: { address: source, port: record.readUInt16BE(rest + 9) },
    destination: { address: destination, port: record.readUInt16BE(rest + 11) },
    packets: Number(record.readBigUInt64BE(9)),
    bytes: Number(record.readBigUInt64BE(rest + 1)),
    begun: timeOf(record, 17),
    last: timeOf(record, 25),
    isSyn: (flags & SYN) !== 0,
    isFin: (flags & FIN) !== 0,
    isRst: (flags & RST) !== 0,
  };
}

/** VPP writes nanoseconds where RFC 7011 has fractions of 2^-32 s. Seconds of NTP begin again in 2036. */
function timeOf(record: Buffer, at: number): number {
  const seconds = (record.readUInt32BE(at) - NTP_EPOCH) >>> 0;
  return seconds * 1_000 + record.readUInt32BE(at + 4) / 1e6;
}
