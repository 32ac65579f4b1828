/** docs/faults.md, row by row: the fault is made, and the commands of the row lead to its cause. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { netctlIn } from '#test/netctl/support/in-process.ts';
import { eventually } from '#test/support/wait.ts';
import { commandLine } from './command-line.ts';
import { type Fault, faults } from './faults.ts';

/** As people are: three commands, and they know. */
const MAX_STEPS = 3;
const LIMIT_MS = 60_000;

interface Row {
  readonly fault: string;
  /** In the output of `netctl status`. */
  readonly status: string;
  /** Commands after it. */
  readonly steps: readonly string[];
  /** In the output of the last step. */
  readonly cause: string;
}

const rows = readFileSync('docs/faults.md', 'utf8')
  .split('\n')
  .filter((line) => /^\| (?!fault )/.test(line))
  .map((line): Row => {
    const [fault = '', status = '', steps = '', cause = ''] = line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim());
    return {
      fault,
      status: quoted(status)[0] ?? '',
      steps: quoted(steps),
      cause: quoted(cause)[0] ?? '',
    };
  });

function quoted(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text!);
}

/** Words of the output, without line ends. */
async function output(words: readonly string[], fault: Fault): Promise<string> {
  const { name, input } = commandLine(words);
  const netctl = netctlIn(name, fault.netctl);
  try {
    await netctl.run(input);
  } catch (thrown) {
    return String(thrown);
  }
  return `${netctl.text()}\n${netctl.warned.join('\n')}`.replaceAll(/\s+/g, ' ');
}

describe('faults, and the steps to their causes', { timeout: 900_000 }, () => {
  const made = faults();

  it('are those of docs/faults.md, at least twenty', () => {
    assert.deepEqual(
      rows.map(({ fault }) => fault),
      Object.keys(made),
    );
    assert.ok(rows.length >= 20, `${rows.length}`);
  });

  for (const { fault, status, steps, cause } of rows)
    it(fault, { skip: made[fault]?.skip ?? false, timeout: 120_000 }, async () => {
      assert.ok(steps.length + 1 <= MAX_STEPS, 'too many steps');
      await using begun = await made[fault]!.begin();
      await eventually(async () => {
        const text = await output(['status'], begun);
        assert.ok(text.includes(status), `${status}\nin\n${text}`);
      }, LIMIT_MS);
      for (const [at, step] of steps.entries())
        await eventually(async () => {
          const text = await output(step.split(' ').slice(1), begun);
          const expected = at === steps.length - 1 ? cause : '';
          assert.ok(text.includes(expected), `${expected}\nin\n${text}`);
        }, LIMIT_MS);
    });
});
