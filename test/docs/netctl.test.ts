/** The tables of docs/netctl.md against the commands and options in the source. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { type Command, ExitCode } from '#netctl/command.ts';
import { commands } from '#netctl/commands.ts';
import { globalOptions } from '#netctl/global-options.ts';
import { remedies } from '#netctl/requests/failure-reason.ts';

const document = readFileSync('docs/netctl.md', 'utf8');

/** The first cells of the rows of the table below a heading. */
function rowsBelow(heading: string): string[] {
  const section = document.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| `([^`]+)` \|.*$/gm)].map(([row]) => row);
}

function usage({ name, arguments: its, options }: Command): string {
  const words = its.map((one) => {
    const word = one.isVariadic ? `${one.name}…` : one.name;
    return one.isOptional ? `[${word}]` : `<${word}>`;
  });
  const flags = options.map(({ name, short }) => `${short ? `-${short}, ` : ''}--${name}`);
  const cells = [`\`${[name, ...words].join(' ')}\``, flags.map((flag) => `\`${flag}\``).join(' ')];
  return cells.join(' | ');
}

describe('docs/netctl.md', () => {
  it('lists the commands with their arguments and options', () => {
    const rows = rowsBelow('Commands').map((row) => row.split(' | ').slice(0, 2).join(' | '));
    assert.deepEqual(
      rows,
      commands.map((one) => `| ${usage(one) || ''}`),
    );
  });

  it('lists the options of all commands', () => {
    const rows = rowsBelow('Options').map((row) => /`([^`]+)`/.exec(row)![1]!);
    const options = globalOptions.map(
      ({ name, short, value }) =>
        (short ? `-${short}, ` : '') + (value ? `--${name} <${value}>` : `--${name}`),
    );
    assert.deepEqual(rows, options);
  });

  it('lists the exit codes and the reasons of failures', () => {
    const codes = rowsBelow('Exit codes').map((row) => Number(/`(\d)`/.exec(row)![1]));
    assert.deepEqual(codes, Object.values(ExitCode));
    const reasons = rowsBelow('A node that does not answer').map(
      (row) => /`([^`]+)`/.exec(row)![1],
    );
    assert.deepEqual(reasons, Object.keys(remedies));
  });
});
