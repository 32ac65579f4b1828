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
 * folder, and those from warning on also to the terminal, as text.
 */
export function demonstrationLog(
  folder: string,
  descriptor: number,
  output: Output,
  clock: Clock,
): DemonstrationLog {
  if (!isatty(descriptor)) return { write: (line) => output.write(line), file: undefined };
  const file = join(folder, 'agent.log');
  // Appends: an agent that runs already has the same file.
  const log = new Output(openSync(file, 'a', 0o600), clock);
  return {
    file,
    write(line) {
      log.write(line);
      const text = textOfWarning(line);
      if (text !== undefined) output.write(`${text}\n`);
    },
  };
}

/** Fields of each line; the others say what the message is about. */
const COMMON = new Set(['level', 'time', 'logger', 'seqNum', 'msg']);
const WARNINGS = new Set(['warn', 'error', 'fatal']);

/** @returns undefined: the line is no warning */
function textOfWarning(line: string): string | undefined {
  // The boxes of events are no JSON.
  if (!line.startsWith('{')) return undefined;
  const fields = JSON.parse(line) as Readonly<Record<string, unknown>>;
  if (!WARNINGS.has(String(fields['level']))) return undefined;
  const details = Object.entries(fields)
    .filter(([name]) => !COMMON.has(name))
    .map(
      ([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
  return `${fields['level']}: ${fields['msg']}${details.join('')}`;
}
