/** Keys by which a cell of the matrix is reached from another one. */

export interface Cell {
  readonly row: number;
  readonly column: number;
}

interface Key {
  readonly key: string;
  readonly ctrlKey: boolean;
}

export interface Grid {
  readonly rows: number;
  readonly columns: number;
  /** Whether the cell can have the focus; the others are skipped. */
  has(cell: Cell): boolean;
}

/** @returns undefined: the key does not move */
export function cellAfterKey(from: Cell, key: Key, grid: Grid): Cell | undefined {
  const move = moveOf(from, key, grid);
  return move && firstOf(move, grid);
}

/** The first one of all, from left to right. */
export function firstCell(grid: Grid): Cell | undefined {
  for (let row = 0; row < grid.rows; row++) {
    const found = firstOf({ start: { row, column: 0 }, down: 0, right: 1 }, grid);
    if (found) return found;
  }
  return undefined;
}

interface Move {
  readonly start: Cell;
  /** From a cell that cannot have the focus to the next one. */
  readonly down: number;
  readonly right: number;
}

function moveOf({ row, column }: Cell, { key, ctrlKey }: Key, grid: Grid): Move | undefined {
  const [lastRow, lastColumn] = [grid.rows - 1, grid.columns - 1];
  switch (key) {
    case 'ArrowRight':
      return { start: { row, column: column + 1 }, down: 0, right: 1 };
    case 'ArrowLeft':
      return { start: { row, column: column - 1 }, down: 0, right: -1 };
    case 'ArrowDown':
      return { start: { row: row + 1, column }, down: 1, right: 0 };
    case 'ArrowUp':
      return { start: { row: row - 1, column }, down: -1, right: 0 };
    case 'Home':
      return { start: { row: ctrlKey ? 0 : row, column: 0 }, down: 0, right: 1 };
    case 'End':
      return { start: { row: ctrlKey ? lastRow : row, column: lastColumn }, down: 0, right: -1 };
    default:
      return undefined;
  }
}

function firstOf({ start, down, right }: Move, grid: Grid): Cell | undefined {
  let { row, column } = start;
  while (row >= 0 && column >= 0 && row < grid.rows && column < grid.columns) {
    if (grid.has({ row, column })) return { row, column };
    row += down;
    column += right;
  }
  return undefined;
}
