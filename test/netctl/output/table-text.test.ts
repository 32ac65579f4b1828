import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { widthOf } from '#infra/text/text-width.ts';
import type { Table } from '#netctl/command.ts';
import { leftOutColumns, type TableStyle, tableLines } from '#netctl/output/table-text.ts';

const style: TableStyle = { isWide: false, hasHeaders: true, width: undefined, hasColors: false };

const table: Table = {
  columns: [
    { title: 'ID', whenNarrow: 'keep' },
    { title: 'NODE-NAME' },
    { title: 'START-TIME' },
    { title: 'COMMIT', isWide: true },
  ],
  rows: [
    { cells: ['1', 'k8s-master-frankfurt', 'Mon Nov 23 01:36:42 2026', 'abc'] },
    { cells: ['2', 'k8s-worker'], note: 'no answer within 5 s', color: 'red' },
  ],
};

describe('a table', () => {
  it('has columns as wide as their widest cell when it is piped', () => {
    assert.deepEqual(tableLines(table, style), [
      'ID  NODE-NAME             START-TIME',
      '1   k8s-master-frankfurt  Mon Nov 23 01:36:42 2026',
      '2   k8s-worker            no answer within 5 s',
    ]);
  });

  it('names the columns that it leaves out', () => {
    const columns = table.columns.map((column) =>
      column.title === 'START-TIME' ? { ...column, whenNarrow: 'drop' as const } : column,
    );
    const leftOut = (changes: Partial<TableStyle>) =>
      leftOutColumns({ ...table, columns }, { ...style, ...changes });
    assert.deepEqual(leftOut({ width: 40 }), ['START-TIME']);
    assert.deepEqual(
      [leftOut({ width: 80 }), leftOut({}), leftOut({ width: 40, isWide: true })],
      [[], [], []],
    );
  });

  it('continues cells on the next line where the terminal is too narrow', () => {
    assert.deepEqual(tableLines(table, { ...style, width: 38 }), [
      'ID  NODE-NAME         START-TIME',
      '1   k8s-master-       Mon Nov 23',
      '    frankfurt         01:36:42 2026',
      '2   k8s-worker        no answer within',
      '                      5 s',
    ]);
  });

  it('has no titles, more columns, and colors where they are asked for', () => {
    const lines = tableLines(table, { ...style, hasHeaders: false, isWide: true, hasColors: true });
    assert.deepEqual(lines, [
      '1  k8s-master-frankfurt  Mon Nov 23 01:36:42 2026  abc',
      '\u001b[31m2  k8s-worker            no answer within 5 s\u001b[0m',
    ]);
  });

  it('shows control characters of the cluster instead of sending them to the terminal', () => {
    const harmful = '\u001b]0;title\u0007\u001b[2J\r\n\u009b31m\u202etxt\u2066';
    const row = { cells: ['1', harmful, ''], note: harmful };
    const lines = tableLines({ ...table, rows: [row] }, { ...style, isWide: true, width: 80 });
    assert.doesNotMatch(lines.join(''), /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
    assert.match(lines.join(''), /\\x1b\]0;title\\x07\\x1b\[2J/);
  });

  it('fits into every terminal that is wide enough for its narrowest columns', () => {
    const cell = fc.string({ unit: 'grapheme', maxLength: 60 });
    const rows = fc.array(fc.tuple(cell, cell, cell, cell), { maxLength: 5 });
    const check = (texts: string[][], width: number): void => {
      const columns = ['A', 'B', 'C', 'D'].map((title) => ({ title }));
      const lines = tableLines(
        { columns, rows: texts.map((cells) => ({ cells })) },
        {
          ...style,
          width,
        },
      );
      for (const line of lines) assert.ok(widthOf(line) <= width, `${widthOf(line)}: ${line}`);
    };
    fc.assert(fc.property(rows, fc.integer({ min: 40, max: 120 }), check));
  });
});
