/**
 * How it is known which command of a batch failed. After the lines of each command stands a mark
 * that always fails and costs nothing. Some failures end `ip` at once, without a word about the
 * line; the marks say how far it came, and the caller sends the rest again.
 */

/** The first word of a mark: no object of `ip`. */
const MARK = 'end-of-operation';

/** The lines of each command, with a mark after each command. For `ip -force -batch -`. */
export function ipBatch(commands: readonly (readonly string[])[]): string {
  return commands.map((lines) => [...lines, MARK, ''].join('\n')).join('');
}

/** A script for `sh` that runs the same kind of list and reports in the words of `ip`. */
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
  /** Per command: what was said of its first failure, undefined when it was carried out. */
  readonly failures: readonly (string | undefined)[];
  /** How many commands from the first were dealt with; below the number sent: it ended early. */
  readonly reached: number;
  /** What was said last, after the last mark. */
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
