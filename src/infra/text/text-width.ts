/** Widths of texts in columns of a terminal: wide characters take two, combining ones none. */
import stringWidth from 'string-width';

const ASCII = /^[ -~]*$/;
/** UTF-16 units per column that are looked at: more than any usual grapheme has. */
const UNITS_PER_COLUMN = 16;
const graphemes = new Intl.Segmenter();

export function widthOf(text: string): number {
  return ASCII.test(text) ? text.length : stringWidth(text);
}

/**
 * The index up to which the text, from an index on, fits into a number of columns. No character is
 * divided, and at least one is taken.
 */
export function fittingEnd(text: string, from: number, columns: number): number {
  // A terminal that does not know its size has none.
  const room = Math.max(1, columns);
  if (ASCII.test(text.slice(from, from + room + 1))) return Math.min(from + room, text.length);
  const part = text.slice(from, from + room * UNITS_PER_COLUMN);
  let width = 0;
  for (const { segment, index } of graphemes.segment(part)) {
    width += stringWidth(segment);
    if (width > room && index > 0) return from + index;
  }
  return from + part.length;
}
