import type { MessageDefinition } from '../definitions.ts';
import { compileDecoder, type Decode } from './decoder.ts';
import { compileEncoder, type Encode } from './encoder.ts';
import { invalidMessage } from './field-error.ts';
import { isFixed, type Layouts, type MessageLayout, sizeOf } from './layout.ts';
import type { Reader } from './runtime.ts';
import { viewOf, type Writer } from './writer.ts';

/**
 * Encodes and decodes one message. Field values match the generated types: enums are numbers; u64
 * and i64 are bigint; `u8 x[N]` is bytes; count fields of arrays are omitted (if given, they must
 * equal the length of the array); an empty array in place of a fixed-length array means all zero; a
 * union is plain bytes if all members are bytes, otherwise an object with the one member that is
 * used. Encoder and decoder are compiled on first use.
 */
export class MessageCodec {
  readonly name: string;
  readonly crc: string;
  readonly layout: MessageLayout;
  /** Offset of the context in the message; undefined for events. */
  readonly contextOffset: number | undefined;
  #encode: Encode | undefined;
  #decode: Decode | undefined;

  constructor(definition: MessageDefinition, layouts: Layouts) {
    this.layout = layouts.message(definition);
    this.name = this.layout.name;
    this.crc = this.layout.crc;
    this.contextOffset = offsetOf(this.layout, 'context');
  }

  /** Name and CRC as in VPP's message table. */
  get tableName(): string {
    return `${this.name}_${this.crc}`;
  }

  /**
   * Appends the message to the writer; the writer is unchanged when a field is invalid.
   * @throws InvalidMessageError naming message, field and reason
   */
  encode(writer: Writer, fields: unknown, id: number, clientIndex: number, context: number): void {
    this.#encode ??= compileEncoder(this.layout);
    try {
      this.#encode(writer, fields, id, clientIndex, context);
    } catch (thrown) {
      throw invalidMessage(this.name, thrown);
    }
  }

  /**
   * Decodes the message between the reader's position and end, without header fields. The result
   * shares no memory with the reader.
   * @throws InvalidMessageError when the message is too short, or longer than its fixed size
   */
  decode(reader: Reader): object {
    this.#decode ??= compileDecoder(this.layout);
    try {
      return this.#decode(reader);
    } catch (thrown) {
      throw invalidMessage(this.name, thrown);
    }
  }

  /** The fields of an all-zero message: variable-length arrays and texts are empty. */
  zero(): object {
    const bytes = Buffer.alloc(sizeOf(this.layout));
    return this.decode({ bytes, view: viewOf(bytes), position: 0, end: bytes.length });
  }
}

function offsetOf(layout: MessageLayout, name: string): number | undefined {
  let offset = 0;
  for (const field of layout.fields) {
    if (field.name === name) return offset;
    if (!isFixed(field.layout)) return undefined;
    offset += sizeOf(field.layout);
  }
  return undefined;
}
