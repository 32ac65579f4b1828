/** Results from what a Go test prints with `-test.v`. */
import type { CaseResult } from './results.ts';

const outcomes = { PASS: 'passed', FAIL: 'failed', SKIP: 'skipped' } as const;

/** Tests without tests of their own, each with the last line that it logged as its message unless it passed. */
export function readGoTestOutput(text: string): CaseResult[] {
  const results = new Map<string, CaseResult>();
  const logged = new Map<string, string>();
  let current = '';
  for (const line of text.split('\n')) {
    const turn = /^=== (?:RUN|NAME|CONT) +(\S+)/.exec(line);
    const log = /^ +\w+\.go:\d+: (.*\S)/.exec(line);
    const end = /^ *--- (PASS|FAIL|SKIP): (\S+) \(([\d.]+)s\)/.exec(line);
    if (turn !== null) current = turn[1]!;
    else if (log !== null) logged.set(current, log[1]!);
    else if (end !== null) {
      const [, word, name, seconds] = end;
      results.set(name!, {
        name: name!.replaceAll('_', ' '),
        outcome: outcomes[word as keyof typeof outcomes],
        message: word === 'PASS' ? '' : (logged.get(name!) ?? ''),
        seconds: Math.round(Number(seconds)),
      });
    }
  }
  const names = [...results.keys()];
  return names
    .filter((name) => !names.some((other) => other.startsWith(`${name}/`)))
    .map((name) => results.get(name)!);
}
