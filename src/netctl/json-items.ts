/**
 * The objects in the lists of a document, while it arrives: those of a list, or those of all lists that
 * are fields of an object. The document of a large cluster is never in memory as a whole.
 */
export interface JsonItem {
  /** Name of the field; empty for the objects of a list. */
  readonly field: string;
  readonly value: unknown;
}

/** Of the document as a whole. */
export interface JsonShape {
  /** Else it is an object. */
  readonly isList: boolean;
  /** Names of the fields of the object, and those of its values that are texts. */
  readonly texts: ReadonlySet<string>;
}

/** @throws SyntaxError */
export async function* jsonItems(
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<JsonItem, JsonShape, void> {
  const decoder = new TextDecoder();
  const scanner = new Scanner();
  for await (const piece of pieces) yield* scanner.scan(decoder.decode(piece, { stream: true }));
  return scanner.end();
}

const QUOTE = 34;
const BACKSLASH = 92;
const BRACKET = 91;
const BRACKET_END = 93;
const BRACE = 123;
const BRACE_END = 125;

/** The position of the quote that ends a text; the end, or one behind it, when there is none yet. */
function endOfText(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) return at;
    if (char === BACKSLASH) at++;
  }
  return at;
}

class Scanner {
  /** Not scanned to its end yet: an object, or the name of a field. */
  #text = '';
  #at = 0;
  #depth = 0;
  /** Depth of the objects that are items; 0: the document has not begun. */
  #itemDepth = 0;
  #itemStart = -1;
  #isInText = false;
  #textStart = 0;
  #field = '';
  readonly #texts = new Set<string>();

  *scan(piece: string): Generator<JsonItem, void, void> {
    this.#text += piece;
    const text = this.#text;
    let at = this.#at;
    for (; at < text.length; at++) {
      if (this.#isInText) {
        at = endOfText(text, at);
        if (at >= text.length) break;
        this.#endText(at);
        continue;
      }
      const char = text.charCodeAt(at);
      if (char === QUOTE) {
        this.#isInText = true;
        this.#textStart = at;
      } else if (char === BRACE || char === BRACKET) this.#open(char, at);
      else if (char === BRACE_END || char === BRACKET_END) {
        this.#depth--;
        if (this.#itemStart < 0 || this.#depth !== this.#itemDepth) continue;
        yield { field: this.#field, value: JSON.parse(text.slice(this.#itemStart, at + 1)) };
        this.#itemStart = -1;
      }
    }
    this.#at = at;
    this.#dropScanned();
  }

  end(): JsonShape {
    if (this.#depth !== 0 || this.#itemDepth === 0)
      throw new SyntaxError('the document is not complete');
    return { isList: this.#itemDepth === 1, texts: this.#texts };
  }

  #open(char: number, at: number): void {
    if (this.#depth === 0) this.#itemDepth = char === BRACKET ? 1 : 2;
    if (char === BRACE && this.#depth === this.#itemDepth) this.#itemStart = at;
    this.#depth++;
  }

  #endText(at: number): void {
    this.#isInText = false;
    if (this.#itemDepth !== 2 || this.#depth !== 1) return;
    this.#field = JSON.parse(this.#text.slice(this.#textStart, at + 1)) as string;
    this.#texts.add(this.#field);
  }

  #dropScanned(): void {
    const kept =
      this.#itemStart >= 0 ? this.#itemStart : this.#isInText ? this.#textStart : this.#at;
    this.#text = this.#text.slice(kept);
    this.#at -= kept;
    this.#textStart -= kept;
    if (this.#itemStart >= 0) this.#itemStart = 0;
  }
}
