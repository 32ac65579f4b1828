/** Messages of IPFIX (RFC 7011) about flows: one template for each family, and records of a fixed length. */
import { createHash } from 'node:crypto';
import type { Flow, FlowEnd } from '#documents/flows.ts';
import { ipFamily, parseIp } from '#models/ip.ts';

const VERSION = 10;
const MESSAGE_HEADER = 16;
/** Offset in a message. */
const SEQUENCE = 8;
const SET_HEADER = 4;
const TEMPLATE_SET = 2;
/** Of one domain: the exporter is known by its address. */
const OBSERVATION_DOMAIN = 1;
/** Fits into a packet of every path. */
const MAX_MESSAGE = 1_400;

type Family = 4 | 6;
const families = [4, 6] as const;
const templateIds = { 4: 256, 6: 257 } as const;

/** Numbers of IANA's registry of information elements. */
const elements = {
  protocolIdentifier: 4,
  sourceTransportPort: 7,
  sourceAddress: { 4: 8, 6: 27 },
  destinationTransportPort: 11,
  destinationAddress: { 4: 12, 6: 28 },
  octetTotalCount: 85,
  flowEndReason: 136,
  flowId: 148,
  flowStartMilliseconds: 152,
  flowEndMilliseconds: 153,
  firewallEvent: 233,
} as const;

const endReasons = { activeTimeout: 2, endOfFlow: 3 } as const;
const firewallEvents = { none: 0, denied: 3 } as const;
const protocolNumbers = { TCP: 6, UDP: 17 } as const;

/** Of the answers (RFC 5103): the same element in the other direction. */
const REVERSE = 29_305;
/** The number of an enterprise follows. */
const ENTERPRISE_BIT = 0x8000;

interface Field {
  readonly element: number;
  /** Default: IANA. */
  readonly enterprise?: number;
  readonly length: number;
  write(record: Buffer, at: number, flow: Flow): void;
}

function fieldsOf(family: Family): readonly Field[] {
  const addressLength = family === 4 ? 4 : 16;
  const address = (element: number, end: (flow: Flow) => FlowEnd): Field => ({
    element,
    length: addressLength,
    write: (record, at, flow) => record.set(bytesOf(end(flow)) ?? [], at),
  });
  return [
    number(elements.flowId, 8, ({ id }) =>
      createHash('sha1').update(id).digest().readBigUInt64BE(),
    ),
    number(elements.flowStartMilliseconds, 8, ({ time }) => BigInt(Date.parse(time))),
    number(elements.flowEndMilliseconds, 8, ({ time, ended, measured }) =>
      BigInt(Date.parse(ended ?? measured ?? time)),
    ),
    address(elements.sourceAddress[family], ({ client }) => client),
    address(elements.destinationAddress[family], ({ server }) => server),
    number(elements.sourceTransportPort, 2, ({ client }) => client.port ?? 0),
    number(elements.destinationTransportPort, 2, ({ server }) => server.port ?? 0),
    number(elements.protocolIdentifier, 1, ({ protocol }) => protocolNumbers[protocol]),
    number(elements.flowEndReason, 1, ({ ended }) =>
      ended === undefined ? endReasons.activeTimeout : endReasons.endOfFlow,
    ),
    number(elements.firewallEvent, 1, ({ verdict }) =>
      verdict === 'denied' ? firewallEvents.denied : firewallEvents.none,
    ),
    number(elements.octetTotalCount, 8, ({ clientBytes }) => BigInt(clientBytes)),
    {
      ...number(elements.octetTotalCount, 8, ({ serverBytes }) => BigInt(serverBytes)),
      enterprise: REVERSE,
    },
  ];
}

function number(element: number, length: 1 | 2 | 8, value: (flow: Flow) => number | bigint): Field {
  return {
    element,
    length,
    write: (record, at, flow) => {
      const found = value(flow);
      if (typeof found === 'bigint') record.writeBigUInt64BE(found, at);
      else record.writeUIntBE(found, at, length);
    },
  };
}

const fields = { 4: fieldsOf(4), 6: fieldsOf(6) } as const;
const recordLengths = {
  4: fields[4].reduce((sum, { length }) => sum + length, 0),
  6: fields[6].reduce((sum, { length }) => sum + length, 0),
} as const;

/** The templates of both families, as one set. */
const templates = templateSet();

function templateSet(): Buffer {
  const bodies = families.flatMap((family) => [
    words(templateIds[family], fields[family].length),
    ...fields[family].map(({ element, length, enterprise }) =>
      enterprise === undefined
        ? words(element, length)
        : words(ENTERPRISE_BIT | element, length, enterprise >>> 16, enterprise & 0xffff),
    ),
  ]);
  return set(TEMPLATE_SET, bodies);
}

/** Numbers of 16 bits. */
function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [i, value] of values.entries()) bytes.writeUInt16BE(value, 2 * i);
  return bytes;
}

/** A message without its number: that of its first record, which the one that sends it knows. */
export interface IpfixMessage {
  readonly bytes: Buffer;
  readonly records: number;
}

/**
 * @param exportTime milliseconds since the epoch
 * @param withTemplates whether the first message has the templates, without which a collector reads nothing
 */
export function ipfixMessages(
  flows: readonly Flow[],
  exportTime: number,
  withTemplates: boolean,
): IpfixMessage[] {
  const messages = withTemplates ? [messageOf([templates], 0, exportTime)] : [];
  for (const family of families) {
    const records = flows
      .filter((flow) => familyOf(flow) === family)
      .map((flow) => encode(flow, family));
    const room = MAX_MESSAGE - MESSAGE_HEADER - SET_HEADER;
    const perMessage = Math.floor(room / recordLengths[family]);
    for (let at = 0; at < records.length; at += perMessage) {
      const some = records.slice(at, at + perMessage);
      messages.push(messageOf([set(templateIds[family], some)], some.length, exportTime));
    }
  }
  return messages;
}

function messageOf(sets: readonly Buffer[], records: number, exportTime: number): IpfixMessage {
  const bytes = Buffer.concat([Buffer.alloc(MESSAGE_HEADER), ...sets]);
  bytes.writeUInt16BE(VERSION, 0);
  bytes.writeUInt16BE(bytes.length, 2);
  bytes.writeUInt32BE(Math.floor(exportTime / 1_000), 4);
  bytes.writeUInt32BE(OBSERVATION_DOMAIN, 12);
  return { bytes, records };
}

/** @param sequence number of records that were sent before, modulo 2^32 */
export function setSequence({ bytes }: IpfixMessage, sequence: number): Buffer {
  bytes.writeUInt32BE(sequence, SEQUENCE);
  return bytes;
}

function set(id: number, bodies: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(SET_HEADER);
  const bytes = Buffer.concat([header, ...bodies]);
  bytes.writeUInt16BE(id, 0);
  bytes.writeUInt16BE(bytes.length, 2);
  return bytes;
}

function encode(flow: Flow, family: Family): Buffer {
  const record = Buffer.alloc(recordLengths[family]);
  let at = 0;
  for (const field of fields[family]) {
    field.write(record, at, flow);
    at += field.length;
  }
  return record;
}

function familyOf({ client }: Flow): Family | undefined {
  const bytes = bytesOf(client);
  return bytes && ipFamily(bytes);
}

/** Of an address, or of the prefix that is left of it. */
function bytesOf({ address }: FlowEnd): Uint8Array | undefined {
  return parseIp(address.split('/')[0]!);
}
