import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  cellAfterKey,
  firstCell,
  type Grid,
} from '../../../ui/src/views/connectivity/matrix-keys.ts';

/** The cell at the end of the first row, and that at the beginning of the last, cannot have the focus. */
const grid: Grid = {
  rows: 3,
  columns: 3,
  has: ({ row, column }) => !(row === 0 && column === 2) && !(row === 2 && column === 0),
};

const after = (row: number, column: number, key: string, ctrlKey = false) => {
  const cell = cellAfterKey({ row, column }, { key, ctrlKey }, grid);
  return cell && [cell.row, cell.column];
};

describe('keys of the matrix', () => {
  it('move to the next cell, and stop at the edge', () => {
    assert.deepEqual(after(1, 1, 'ArrowRight'), [1, 2]);
    assert.deepEqual(after(1, 1, 'ArrowDown'), [2, 1]);
    assert.equal(after(1, 2, 'ArrowRight'), undefined);
    assert.equal(after(0, 0, 'ArrowUp'), undefined);
  });

  it('skip cells that cannot have the focus', () => {
    assert.equal(after(1, 2, 'ArrowUp'), undefined);
    assert.deepEqual(after(0, 0, 'End'), [0, 1]);
    assert.deepEqual(after(2, 2, 'Home'), [2, 1]);
    assert.deepEqual(after(2, 2, 'Home', true), [0, 0]);
    assert.deepEqual(after(0, 0, 'End', true), [2, 2]);
  });

  it('leave other keys alone', () => {
    assert.equal(after(1, 1, 'Tab'), undefined);
  });

  it('begin at the first cell that can have the focus', () => {
    assert.deepEqual(firstCell({ ...grid, has: ({ row }) => row === 1 }), { row: 1, column: 0 });
    assert.equal(firstCell({ ...grid, has: () => false }), undefined);
  });
});
