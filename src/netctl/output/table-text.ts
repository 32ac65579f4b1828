/** A table as lines of text, folded into the width of a terminal. */
import { fittingEnd, widthOf } from '#infra/text/text-width.ts';
import type { Column, Table, TableRow } from '../command.ts';
import { safeLine } from './terminal-text.ts';

const GAP = 2;
/** Columns are not made narrower. */
const MIN_WIDTH = 8;

export interface TableStyle {
  readonly isWide: boolean;
  readonly hasHeaders: boolean;
  /** undefined: lines of any length. */
  readonly width: number | undefined;
  readonly hasColors: boolean;
}

const colors = { red: 31, green: 32, yellow: 33 } as const;

export function tableLines(table: Table, style: TableStyle): string[] {
  const isLeftOut = leftOut(table, style);
  const shown = shownTable(table, (column) => isOffered(column, style) && !isLeftOut(column));
  const widths = columnWidths(shown, style);
  const titles = { cells: shown.columns.map(({ title }) => title) };
  const rows: readonly TableRow[] = style.hasHeaders ? [titles, ...shown.rows] : shown.rows;
  return rows.flatMap((row) => rowLines(row, shown.columns, widths, style));
}

/** Titles of columns for which the terminal is too narrow. */
export function leftOutColumns(table: Table, style: TableStyle): string[] {
  return table.columns.filter(leftOut(table, style)).map(({ title }) => title);
}

function isOffered({ isWide }: Column, style: TableStyle): boolean {
  return style.isWide || !isWide;
}

function leftOut(table: Table, style: TableStyle): (column: Column) => boolean {
  if (style.isWide) return () => false;
  const all = shownTable(table, (column) => isOffered(column, style));
  const isNarrow = lineWidth(naturalWidths(all, style)) > (style.width ?? Infinity);
  return (column) => isNarrow && isOffered(column, style) && column.whenNarrow === 'drop';
}

/** The table with some of its columns, and with texts that a terminal may show. */
function shownTable({ columns, rows }: Table, isShown: (column: Column) => boolean): Table {
  return {
    columns: columns.filter(isShown),
    rows: rows.map((row) => ({
      ...row,
      cells: row.cells.filter((_, place) => isShown(columns[place]!)).map(safeLine),
    })),
  };
}

function naturalWidths({ columns, rows }: Table, { hasHeaders }: TableStyle): number[] {
  return columns.map(({ title }, place) => cellWidth(rows, place, hasHeaders ? title : ''));
}

/** Of the widest cell of a column, or of the title. */
function cellWidth(rows: readonly TableRow[], place: number, title = ''): number {
  return rows.reduce(
    (widest, { cells }) => Math.max(widest, widthOf(cells[place] ?? '')),
    widthOf(title),
  );
}

function columnWidths(table: Table, style: TableStyle): number[] {
  const natural = naturalWidths(table, style);
  const smallest = table.columns.map(({ whenNarrow }, place) =>
    whenNarrow === 'keep' ? Math.max(MIN_WIDTH, cellWidth(table.rows, place)) : MIN_WIDTH,
  );
  const widths = [...natural];
  for (let excess = lineWidth(widths) - (style.width ?? Infinity); excess > 0; excess--) {
    const candidates = [...widths.keys()].filter((place) => widths[place]! > smallest[place]!);
    const widest = candidates.reduce((a, b) => (widths[b]! > (widths[a] ?? 0) ? b : a), -1);
    // It does not fit in any way: the terminal breaks the lines.
    if (widest < 0) return natural;
    widths[widest]!--;
  }
  return widths;
}

function lineWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + GAP, -GAP);
}

function rowLines(
  { cells, note, color }: TableRow,
  columns: readonly Column[],
  widths: readonly number[],
  style: TableStyle,
): string[] {
  const texts = cells.map((cell, place) => folded(cell, widths[place]!));
  const known = widths.slice(0, cells.length);
  if (note !== undefined) {
    const start = known.length > 0 ? lineWidth(known) + GAP : 0;
    texts.push(folded(safeLine(note), Math.max(MIN_WIDTH, (style.width ?? Infinity) - start)));
  }
  const height = Math.max(1, ...texts.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) => {
    const parts = texts.map((lines, place) => {
      const text = lines[line] ?? '';
      const padding = ' '.repeat(Math.max(0, (widths[place] ?? 0) - widthOf(text)));
      const isNote = place === cells.length;
      if (isNote) return text;
      return columns[place]!.isRightAligned ? padding + text : text + padding;
    });
    const text = parts.join(' '.repeat(GAP)).trimEnd();
    return style.hasColors && color ? `\u001b[${colors[color]}m${text}\u001b[0m` : text;
  });
}

/** The lines of a text, folded; what continues a line is indented as it is. */
export function foldedLines(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => {
    const [indentation = ''] = /^ */.exec(line) ?? [];
    const room = Math.max(MIN_WIDTH, width - indentation.length);
    return folded(line.trimStart(), room).map((part) => indentation + part);
  });
}

/** Folds at spaces, else after the punctuation of names and addresses, else anywhere. */
export function folded(text: string, width: number): string[] {
  if (widthOf(text) <= width) return [text];
  const lines: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = fittingEnd(text, start, width);
    const part = text.slice(start, end);
    const next = text[end];
    const isBetweenWords = next === undefined || next === ' ';
    const [whole = part] = isBetweenWords
      ? [part]
      : (/^.* /s.exec(part) ?? /^.*[-/,:._]/s.exec(part) ?? [part]);
    lines.push(whole.trimEnd());
    start += whole.length;
    while (text[start] === ' ') start++;
  }
  return lines;
}
