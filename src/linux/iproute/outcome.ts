/**
 * Determines which commands of a batch failed. A marker follows the lines of each command; it always
 * fails and has no effect. Some failures end `ip` at once, without naming the line: the markers show how
 * far it came, and the caller sends the remaining commands again.
 */

/** The marker: not an object of `ip`. */
const MARK = 'end-of-operation';

/** The lines of each command, each command followed by a marker. For `ip -force -batch -`. */
export function ipBatch(commands: readonly (readonly string[])[]): string {
  return commands.map((lines) => [...lines, MARK, ''].join('\n')).join('');
}

/** The same for `sh`: a script that reports failures in the format of `ip`. */
export function shScript(commands: readonly (readonly string[])[]): string {
  let number = 0;
  const failed = () => `echo 'Command failed -:${++number}' >&2\n`;
  return commands
    .map(
      (lines) => lines.map((line) => `( ${line} ) </dev/null || ${failed()}`).join('') + failed(),
    )
    .join('');
}

export interface Outcomes {
  /** Per command: the text of its first failure; undefined if it succeeded. */
  readonly failures: readonly (string | undefined)[];
  /** Number of commands that were processed; fewer than sent if the process ended early. */
  readonly reached: number;
  /** Output after the last marker. */
  readonly rest: string;
}

/** @param commands as they were sent */
export function outcomesOf(stderr: string, commands: readonly (readonly string[])[]): Outcomes {
  const commandAt: { index: number; mark: boolean }[] = [];
  for (const [index, lines] of commands.entries()) {
    for (const _ of lines) commandAt.push({ index, mark: false });
    commandAt.push({ index, mark: true });
  }
  const failures: (string | undefined)[] = commands.map(() => undefined);
  let reached = 0;
  let said: string[] = [];
  for (const line of stderr.split('\n')) {
    const number = /^Command failed -:(\d+)$/.exec(line)?.[1];
    if (number === undefined) {
      if (line !== '' && !line.startsWith('Warning: ')) said.push(line);
      continue;
    }
    const place = commandAt[Number(number) - 1];
    if (place?.mark) reached = place.index + 1;
    else if (place) failures[place.index] ??= said.join('\n') || 'refused without a reason';
    said = [];
  }
  return { failures, reached, rest: said.join('\n') };
}
