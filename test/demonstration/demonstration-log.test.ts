/** The log of `npm start` on a pseudo terminal. */
import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { demonstrationLog } from '#demonstration/demonstration-log.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';

const lines = [
  '{"node":"node-2","level":"info","time":"2026-01-01T10:11:12.000Z","logger":"agent","msg":"fine"}\n',
  '{"node":"node-2","level":"warn","time":"2026-01-01T10:11:13.000Z","logger":"policy","seqNum":7,"pod":"a/b","ports":[1],"msg":"not carried"}\n',
  'a box\n',
];

function shown(descriptor: number, env: Readonly<Record<string, string>>) {
  const written: string[] = [];
  const output = { write: (text: string) => void written.push(text) };
  const log = demonstrationLog(temporaryFolder('log'), descriptor, output, new ManualClock(), env);
  for (const line of lines) log.write(line);
  return { written, file: log.file };
}

it('writes JSON where no terminal is', () => {
  const descriptor = openSync('/dev/null', 'w');
  assert.deepEqual(shown(descriptor, {}), { written: lines, file: undefined });
  closeSync(descriptor);
});

it('writes warnings as text on a terminal, and all lines to a file', () => {
  // a pseudo terminal without a reader
  const descriptor = openSync('/dev/ptmx', 'r+');
  const plain = shown(descriptor, { NO_COLOR: '1' });
  assert.deepEqual(plain.written, ['10:11:13 warn node-2 policy: not carried pod=a/b ports=[1]\n']);
  assert.equal(readFileSync(plain.file!, 'utf8'), lines.join(''));
  const [colored] = shown(descriptor, {}).written;
  assert.ok(colored!.startsWith('10:11:13 \u001b[33mwarn\u001b[0m node-2 policy: '), colored);
  closeSync(descriptor);
});
