/** Lines that differ between two values, with a few equal ones around them. */

export interface DiffLine {
  readonly sign: '+' | '-' | ' ';
  readonly text: string;
}

/** Equal lines before and after a change. */
const CONTEXT = 2;
/** Of longer middles all lines are shown as removed and added: the comparison takes the product of both. */
const MAX_COMPARED = 600;
const MAX_LINES = 200;

export interface Diff {
  readonly lines: readonly DiffLine[];
  /** Lines that are not in `lines`. */
  readonly omitted: number;
}

export function lineDiff(before: object | null, after: object | null): Diff {
  const old = linesOf(before);
  const next = linesOf(after);
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) start++;
  let end = 0;
  while (
    end < Math.min(old.length, next.length) - start &&
    old[old.length - 1 - end] === next[next.length - 1 - end]
  )
    end++;
  const lines = [
    ...old.slice(Math.max(0, start - CONTEXT), start).map(same),
    ...compared(old.slice(start, old.length - end), next.slice(start, next.length - end)),
    ...old.slice(old.length - end, old.length - end + CONTEXT).map(same),
  ];
  return { lines: lines.slice(0, MAX_LINES), omitted: Math.max(0, lines.length - MAX_LINES) };
}

function linesOf(value: object | null): string[] {
  return value === null ? [] : JSON.stringify(value, undefined, 2).split('\n');
}

function same(text: string): DiffLine {
  return { sign: ' ', text };
}

/** By the longest common subsequence. */
function compared(old: readonly string[], next: readonly string[]): DiffLine[] {
  const removed = old.map((text): DiffLine => ({ sign: '-', text }));
  const added = next.map((text): DiffLine => ({ sign: '+', text }));
  if (old.length > MAX_COMPARED || next.length > MAX_COMPARED) return [...removed, ...added];
  const width = next.length + 1;
  // lengths[i * width + j]: of the longest one of old from i and next from j
  const lengths = new Uint16Array((old.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = next.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        old[i] === next[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < next.length) {
    if (i < old.length && j < next.length && old[i] === next[j]) {
      lines.push(same(old[i]!));
      i++;
      j++;
    } else if (j === next.length || (i < old.length && at(i + 1, j) >= at(i, j + 1)))
      lines.push(removed[i++]!);
    else lines.push(added[j++]!);
  }
  return lines;
}
