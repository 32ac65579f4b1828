/** Markdown tables: most cells are generated from the source, hand-written ones are kept. */

/** A hand-written cell; `suggestion` is its placeholder until it is written. */
export interface HandWritten {
  readonly suggestion: string;
}

export interface Row {
  /** First cell; unique in the table. */
  readonly key: string;
  readonly cells: readonly (string | HandWritten)[];
}

/** Placeholder of a hand-written cell; a test rejects it. */
export const MISSING = '(to be written)';

/** @param old the current table; hand-written cells are taken from it by key and column */
export function renderTable(columns: readonly string[], rows: readonly Row[], old: string): string {
  const written = handWritten(old);
  const lines = rows.map(({ key, cells }) => {
    const texts = cells.map((cell, index) => {
      if (typeof cell === 'string') return escaped(cell);
      const kept = written.get(`${escaped(key)} / ${columns[index + 1]}`);
      return kept ?? (escaped(cell.suggestion) || MISSING);
    });
    return line([escaped(key), ...texts]);
  });
  return [line(columns), line(columns.map(() => '---')), ...lines].join('\n');
}

/** Order of a table that has no better one. */
export function byKey(a: Row, b: Row): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

function unescaped(row: string): string[] {
  return row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** Cells of a table by `first cell / column`. */
function handWritten(table: string): Map<string, string> {
  const [header, , ...rows] = table.split('\n').filter((text) => text.startsWith('|'));
  const columns = header ? unescaped(header) : [];
  const cells = new Map<string, string>();
  for (const row of rows) {
    const [key = '', ...rest] = unescaped(row);
    rest.forEach((cell, index) => {
      if (cell !== '' && cell !== MISSING) cells.set(`${key} / ${columns[index + 1]}`, cell);
    });
  }
  return cells;
}

/** First cells of a table, as they are written. */
export function keysOf(table: string): string[] {
  const [, , ...rows] = table.split('\n').filter((text) => text.startsWith('|'));
  return rows.map((row) => unescaped(row)[0] ?? '');
}
