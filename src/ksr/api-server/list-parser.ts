import { ApiResponseError } from './api-errors.ts';
import { PieceBuffer } from './piece-buffer.ts';

/** Of everything in a list besides its items. */
const MAX_ENVELOPE_BYTES = 1 << 20;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const SPACE = 0x20;

const ITEMS_KEY = /[{,]\s*"items"\s*:\s*$/;

export interface ListEnvelope {
  readonly resourceVersion: string;
  /** Token of the next page; empty after the last. */
  readonly continue: string;
}

/**
 * Parses a list of objects while it arrives, item by item: a list is never in memory as a whole, and the
 * main thread is not blocked by the parsing of a page.
 */
export class ListParser {
  readonly #where: string;
  readonly #item = new PieceBuffer();
  /** The list without its items. */
  #envelope = '';
  /** Open braces and brackets, those of the list among them. */
  #depth = 0;
  #inItems = false;
  #inString = false;
  #escaped = false;

  /** @param where path of the list, for errors */
  constructor(where: string) {
    this.#where = where;
  }

  /**
   * @returns the items that are complete with this piece of the response
   * @throws ApiResponseError
   */
  accept(piece: Uint8Array): unknown[] {
    const items: unknown[] = [];
    /** Begin of what was not taken yet: of an item, or of a part of the envelope. */
    let begin = 0;
    for (let i = 0; i < piece.length; i++) {
      if (this.#inItem) {
        const end = this.#endOfItem(piece, i);
        if (end === undefined) break;
        items.push(this.#parse(this.#item.take(piece, begin, end)));
        begin = end;
        i = end - 1;
        continue;
      }
      const byte = piece[i] as number;
      if (this.#inString) this.#skipInString(byte);
      else if (this.#inItems && byte === OPEN_BRACE) {
        begin = i;
        this.#depth++;
      } else if (this.#inItems && byte === CLOSE_BRACKET) {
        begin = i;
        this.#inItems = false;
        this.#depth--;
      } else if (this.#inItems) {
        if (byte !== COMMA && byte > SPACE) throw this.#invalid('an item is not an object');
      } else if (byte === QUOTE) this.#inString = true;
      else if (byte === OPEN_BRACE) this.#depth++;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#depth--;
      else if (byte === OPEN_BRACKET) {
        this.#depth++;
        if (this.#depth !== 2) continue;
        this.#addEnvelope(piece, begin, i + 1);
        begin = i + 1;
        this.#inItems = ITEMS_KEY.test(this.#envelope.slice(0, -1));
      }
    }
    if (this.#inItem) this.#item.add(piece, begin);
    else if (!this.#inItems) this.#addEnvelope(piece, begin, piece.length);
    return items;
  }

  get #inItem(): boolean {
    return this.#inItems && this.#depth > 2;
  }

  #skipInString(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) this.#inString = false;
  }

  /**
   * Index after the item; undefined when it does not end in this piece. Nearly all of a list is read by
   * this loop: with fields in place of its variables it takes twice as long.
   */
  #endOfItem(piece: Uint8Array, from: number): number | undefined {
    let depth = this.#depth;
    let inString = this.#inString;
    let escaped = this.#escaped;
    let i = from;
    for (; i < piece.length && depth > 2; i++) {
      const byte = piece[i];
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === QUOTE) inString = false;
        else if (byte === BACKSLASH) escaped = true;
      } else if (byte === QUOTE) inString = true;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
    }
    this.#depth = depth;
    this.#inString = inString;
    this.#escaped = escaped;
    return depth > 2 ? undefined : i;
  }

  /** @throws ApiResponseError unless the list is complete and has a resource version */
  end(): ListEnvelope {
    const list = this.#parse(this.#envelope) as {
      items?: unknown;
      metadata?: { resourceVersion?: unknown; continue?: unknown };
    } | null;
    // Go writes an empty list as null in some versions.
    if (list?.items !== null && !Array.isArray(list?.items))
      throw this.#invalid('the list has no items');
    const { resourceVersion, continue: token = '' } = list.metadata ?? {};
    if (typeof resourceVersion !== 'string' || resourceVersion === '')
      throw this.#invalid('the list has no metadata.resourceVersion');
    if (typeof token !== 'string') throw this.#invalid('metadata.continue is not a string');
    return { resourceVersion, continue: token };
  }

  #addEnvelope(piece: Uint8Array, begin: number, end: number): void {
    // The envelope is ASCII: a character that is cut in two would only be wrong in a text for people.
    this.#envelope += Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString(
      'utf8',
      begin,
      end,
    );
    if (this.#envelope.length > MAX_ENVELOPE_BYTES)
      throw this.#invalid('the list has too much data besides its items');
  }

  #parse(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch (thrown) {
      throw this.#invalid('the list is not valid JSON', thrown);
    }
  }

  #invalid(text: string, cause?: unknown): Error {
    return new ApiResponseError(text, { where: this.#where, cause });
  }
}
