import { openSync } from 'node:fs';
import { join } from 'node:path';
import { isatty } from 'node:tty';
import type { Clock } from '#infra/clock/clock.ts';
import { Output } from '#infra/log/output.ts';

export interface DemonstrationLog {
  write(line: string): void;
  /** File of the lines that are not on the terminal; undefined: the standard output has all. */
  readonly file: string | undefined;
}

/**
 * A person at a terminal looks for the address of the page, not for log lines: there, lines go to a file of the
 * folder, and those from warning on also to the terminal, as text. Elsewhere all lines are on the output, as JSON.
 * @param env NO_COLOR turns the colors off
 */
export function demonstrationLog(
  folder: string,
  descriptor: number,
  output: Pick<Output, 'write'>,
  clock: Clock,
  env: Readonly<Record<string, string | undefined>>,
): DemonstrationLog {
  if (!isatty(descriptor)) return { write: (line) => output.write(line), file: undefined };
  const file = join(folder, 'agent.log');
  // Appends: an agent that runs already has the same file.
  const hasColors = !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  const log = new Output(openSync(file, 'a', 0o600), clock);
  return {
    file,
    write(line) {
      log.write(line);
      const text = textOfWarning(line, hasColors);
      if (text !== undefined) output.write(`${text}\n`);
    },
  };
}

/** Fields of each line; the others say what the message is about. */
const COMMON = new Set(['node', 'level', 'time', 'logger', 'seqNum', 'msg']);
/** With the colors of a terminal: yellow and red. */
const WARNINGS = new Map([
  ['warn', 33],
  ['error', 31],
  ['fatal', 31],
]);

/** @returns undefined: the line is no warning */
function textOfWarning(line: string, hasColors: boolean): string | undefined {
  // The boxes of events are no JSON.
  if (!line.startsWith('{')) return undefined;
  const fields = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const { level, node, logger, msg } = fields;
  const color = WARNINGS.get(String(level));
  if (color === undefined) return undefined;
  const details = Object.entries(fields)
    .filter(([name]) => !COMMON.has(name))
    .map(
      ([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
  const time = String(fields['time']).slice(11, 19);
  const word = hasColors ? `\x1b[${color}m${level}\x1b[0m` : level;
  const place = node === undefined ? logger : `${node} ${logger}`;
  return `${time} ${word} ${place}: ${msg}${details.join('')}`;
}
