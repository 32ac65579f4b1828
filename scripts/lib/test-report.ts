/** The output of a test run: one line per file, then the skipped tests, then the counts. */
import type { FileResult, Skip } from './run-tests.ts';

/** One line for a file; with failures and output if a test failed. */
export function fileText({ file, passed, failures, skips, output, ms }: FileResult): string {
  const counts = [
    `${passed} passed`,
    ...(failures.length > 0 ? [`${failures.length} failed`] : []),
    ...(skips.length > 0 ? [`${skips.length} skipped`] : []),
  ];
  const word = failures.length > 0 ? 'FAIL' : passed > 0 ? 'ok  ' : 'skip';
  const line = `${word}  ${file}  ${counts.join(', ')}  ${(ms / 1000).toFixed(1)} s\n`;
  if (failures.length === 0) return line;
  const details = failures.map(
    ({ path, text }) => `${indent(path.join(' > ') || 'the whole file', 6)}${indent(text, 8)}`,
  );
  const wrote = output.trim() === '' ? '' : indent(`output of the file:\n${output.trimEnd()}`, 6);
  return line + details.join('') + wrote;
}

function indent(text: string, by: number): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(by)).concat('\n');
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export function countsText({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

export function countAll(results: readonly FileResult[]): Counts {
  const sum = (of: (result: FileResult) => number): number =>
    results.reduce((total, result) => total + of(result), 0);
  return {
    passed: sum((result) => result.passed),
    failed: sum((result) => result.failures.length),
    skipped: sum((result) => result.skips.length),
  };
}

/** One line for the skipped tests of a file with the same reason. */
export function skipLines(results: readonly FileResult[]): string[] {
  return results.flatMap(({ file, skips }) => {
    const byReason = Map.groupBy(skips, (skip) => skip.reason);
    return [...byReason].map(([reason, same]) => skipLine(file, same, reason));
  });
}

function skipLine(file: string, [first, ...more]: readonly Skip[], reason: string): string {
  const others = more.length > 0 ? ` and ${more.length} more` : '';
  return `${file}: ${first!.path.join(' > ')}${others}: ${reason || '(no reason given)'}`;
}
