/** Test vectors encoded by VPP's Python client, and the conversion of their fields. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { MessageCodec } from '#vpp/binapi/codec/codec.ts';
import type { Layout, StructLayout } from '#vpp/binapi/codec/layout.ts';
import type { Reader } from '#vpp/binapi/codec/runtime.ts';
import { viewOf, Writer } from '#vpp/binapi/codec/writer.ts';

export interface Vector {
  readonly message: string;
  readonly crc: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly hex: string;
}

export const sharedFolder = fileURLToPath(new URL('../../../../shared', import.meta.url));

export function readVectors(path: string): Vector[] {
  return JSON.parse(readFileSync(path, 'utf8')) as Vector[];
}

const header = ['_vl_msg_id', 'client_index', 'context'] as const;

export interface Header {
  readonly id: number;
  readonly clientIndex: number;
  readonly context: number;
}

export function headerOf(vector: Vector): Header {
  const [id, clientIndex, context] = header.map((name) => (vector.fields[name] as number) ?? 0);
  return { id: id!, clientIndex: clientIndex!, context: context! };
}

/** The fields as a caller of the codec gives them; counts are kept and must match their arrays. */
export function givenFields(codec: MessageCodec, vector: Vector): object {
  const fields = Object.entries(vector.fields).filter(([name]) => !header.includes(name as never));
  return given(codec.layout, Object.fromEntries(fields)) as object;
}

type Json = Record<string, unknown>;

function given(layout: Layout, value: unknown): unknown {
  if (isTagged(value, '$hex')) return Uint8Array.from(Buffer.from(String(value.$hex), 'hex'));
  if (isTagged(value, '$big')) return BigInt(String(value.$big));
  switch (layout.kind) {
    case 'bigint':
      return BigInt(value as number);
    case 'array':
    case 'counted':
      return (value as unknown[]).map((element) => given(layout.of, element));
    case 'struct':
      return Object.fromEntries(
        layout.fields
          .filter(({ name }) => (value as Json)[name] !== undefined)
          .map(({ name, layout: of }) => [name, given(of, (value as Json)[name])]),
      );
    case 'union': {
      const [[name, member]] = Object.entries(value as Json) as [[string, unknown]];
      const of = layout.members.find((other) => other.name === name)!.layout;
      return layout.isBytes ? given(of, member) : { [name]: given(of, member) };
    }
    default:
      return value;
  }
}

function isTagged(value: unknown, tag: string): value is Json {
  return typeof value === 'object' && value !== null && tag in value;
}

/** The expected result of decoding the given fields: no counts, unions of bytes in full length. */
export function decodedForm(layout: Layout, value: unknown): unknown {
  switch (layout.kind) {
    case 'array':
    case 'counted':
      if (value instanceof Uint8Array) return value;
      return (value as unknown[]).map((element) => decodedForm(layout.of, element));
    case 'struct':
      return Object.fromEntries(
        layout.fields
          .filter(
            (field) => field.countOf === undefined && (value as Json)[field.name] !== undefined,
          )
          .map(({ name, layout: of }) => [name, decodedForm(of, (value as Json)[name])]),
      );
    case 'union': {
      if (value instanceof Uint8Array) {
        const bytes = new Uint8Array(layout.size);
        bytes.set(value);
        return bytes;
      }
      const [[name, member]] = Object.entries(value as Json) as [[string, unknown]];
      const of = layout.members.find((other) => other.name === name)!.layout;
      return { [name]: decodedForm(of, member) };
    }
    default:
      return value;
  }
}

/** Whether every union contains the member that its discriminator selects, so it can be decoded. */
export function isReadable(layout: Layout, value: unknown): boolean {
  if (layout.kind === 'array' || layout.kind === 'counted')
    return (
      value instanceof Uint8Array || (value as unknown[]).every((e) => isReadable(layout.of, e))
    );
  if (layout.kind !== 'struct') return true;
  return layout.fields.every((field) => {
    const own = (value as Json)[field.name];
    if (field.layout.kind !== 'union' || field.layout.isBytes) {
      return own === undefined || isReadable(field.layout, own);
    }
    const said = (value as Json)[field.discriminator ?? ''];
    const member = field.layout.members.find((other) => other.case === said);
    return member === undefined
      ? own instanceof Uint8Array
      : Object.hasOwn(own as Json, member.name);
  });
}

/** The encoded message. */
export function pack(
  codec: MessageCodec,
  fields: object,
  { id, clientIndex, context }: Header,
): Buffer {
  const writer = new Writer(1);
  codec.encode(writer, fields, id, clientIndex, context);
  return writer.bytes.subarray(0, writer.length);
}

/** Decodes a message that is surrounded by other bytes. */
export function unpack(codec: MessageCodec, bytes: Uint8Array): object {
  return codec.decode(readerOf(bytes));
}

export function readerOf(message: Uint8Array): Reader {
  const bytes = Buffer.alloc(message.length + 40, 0xee);
  bytes.set(message, 20);
  return { bytes, view: viewOf(bytes), position: 20, end: 20 + message.length };
}

export const someHeader: Header = { id: 0x1234, clientIndex: 0x89abcdef, context: 0xfedcba98 };

export function structOf(codec: MessageCodec): StructLayout {
  return {
    ...codec.layout,
    fields: codec.layout.fields.filter(({ name }) => !header.includes(name as never)),
  };
}
