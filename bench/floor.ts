/**
 * The table of docs/performance.md: each row is measured against its reference in this run.
 *
 *     npm run bench -- floor                       all parts
 *     npm run bench -- floor --only=scheduler      one part
 *     npm run bench -- floor --markdown            the table as Markdown, at the end
 */
import { readFileSync } from 'node:fs';
import { binapi } from './lib/floor/binapi.ts';
import { coldStart } from './lib/floor/cold-start.ts';
import { dumpPause } from './lib/floor/dump-pause.ts';
import { growth } from './lib/floor/growth.ts';
import { logVolume } from './lib/floor/log-volume.ts';
import { podAttach } from './lib/floor/pod-attach.ts';
import { podBurst } from './lib/floor/pod-burst.ts';
import type { Part, Row } from './lib/floor/row.ts';
import { scheduler } from './lib/floor/scheduler.ts';
import type { Print } from './main.ts';

export const NAME = 'floor: every row of docs/performance.md against its reference';

const parts: readonly Part[] = [
  podAttach,
  podBurst,
  binapi,
  scheduler,
  coldStart,
  dumpPause,
  growth,
  logVolume,
];

export async function run(print: Print): Promise<void> {
  const only = /--only=(\S+)/.exec(process.argv.join(' '))?.[1] ?? '';
  const rows: Row[] = [];
  for (const part of parts.filter(({ title }) => title.includes(only)))
    for await (const row of measured(part, print)) rows.push(row);
  if (process.argv.includes('--markdown')) for (const line of markdown(rows)) print(line);
  print(`${rows.filter(({ met }) => met).length} of ${rows.length} rows meet their target`);
}

async function* measured(part: Part, print: Print): AsyncGenerator<Row> {
  const reason = part.needs();
  if (reason) {
    print(`${part.title}: not measured, ${reason}`);
    return;
  }
  const rows = part.rows();
  try {
    for (;;) {
      const before = load();
      const { value: row, done } = await rows.next();
      if (done) return;
      print(`${row.name} (load before ${before})`);
      if (row.reference !== '') print(`    reference: ${row.reference}`);
      const ratio = row.ratio === '' ? '' : `, ratio ${row.ratio}`;
      print(`    ours: ${row.ours}${ratio}; target ${row.target}: ${row.met ? 'met' : 'MISSED'}`);
      yield row;
    }
  } catch (error) {
    print(`${part.title}: failed, ${error instanceof Error ? error.stack : String(error)}`);
    process.exitCode = 1;
  }
}

/** Of the machine, over the last minute. */
function load(): string {
  return readFileSync('/proc/loadavg', 'utf8').split(' ')[0] as string;
}

function* markdown(rows: readonly Row[]): Generator<string> {
  yield '| work | reference | ours | ratio | target | |';
  yield '|---|---|---|---|---|---|';
  for (const { name, reference, ours, ratio, target, met } of rows)
    yield `| ${name} | ${reference || '–'} | ${ours} | ${ratio || '–'} | ${target} | ${met ? 'met' : 'missed'} |`;
}
