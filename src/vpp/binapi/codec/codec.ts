import type { MessageDefinition } from '../definitions.ts';
import { compileDecoder, type Decode } from './decoder.ts';
import { compileEncoder, type Encode } from './encoder.ts';
import { invalidMessage } from './field-error.ts';
import { isFixed, type Layouts, type MessageLayout, sizeOf } from './layout.ts';
import type { Reader } from './runtime.ts';
import { viewOf, type Writer } from './writer.ts';

/**
 * Packs and unpacks one message. Fields are as the generated types say: enums are numbers; u64 and
 * i64 bigint; `u8 x[N]` bytes; a field that only counts an array is left out, for the array says
 * its own length (given all the same, it must be right); an array of fixed length may be empty,
 * which stands for all zero; a union is plain bytes where all members are bytes, otherwise an
 * object with the one member that is meant. Compiled at first use.
 */
export class MessageCodec {
  readonly name: string;
  readonly crc: string;
  readonly layout: MessageLayout;
  /** Where the context stands in the message; undefined for events. */
  readonly contextOffset: number | undefined;
  #encode: Encode | undefined;
  #decode: Decode | undefined;

  constructor(definition: MessageDefinition, layouts: Layouts) {
    this.layout = layouts.message(definition);
    this.name = this.layout.name;
    this.crc = this.layout.crc;
    this.contextOffset = offsetOf(this.layout, 'context');
  }

  /** Name and CRC as they stand in VPP's message table. */
  get tableName(): string {
    return `${this.name}_${this.crc}`;
  }

  /**
   * Appends the message to the writer, which stays as it was when a field is refused.
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
   * The fields of the message between the reader's position and end, header fields left out. Shares
   * no memory with the reader.
   * @throws InvalidMessageError when it ends before its fields do, or is longer than its fixed size
   */
  decode(reader: Reader): object {
    this.#decode ??= compileDecoder(this.layout);
    try {
      return this.#decode(reader);
    } catch (thrown) {
      throw invalidMessage(this.name, thrown);
    }
  }

  /** The fields of a message of zeros: arrays and texts are empty. */
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
