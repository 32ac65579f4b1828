/**
 *     npm run bench                all measurements, one after the other
 *     npm run bench -- planner     those with the word in their name; words that begin with -- are for them
 *
 * A measurement is a module of this folder that exports `NAME` and `run(print)`. It measures in this
 * process, prints numbers with their units, and throws only when it cannot measure.
 */
import { globSync, readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { basename } from 'node:path';

/** Prints one line. */
export type Print = (line: string) => void;

export interface Measurement {
  readonly NAME: string;
  run(print: Print): Promise<void> | void;
}

function isMeasurement(module: object): module is Measurement {
  const { NAME, run } = module as Partial<Measurement>;
  return typeof NAME === 'string' && typeof run === 'function';
}

async function measurements(): Promise<Measurement[]> {
  const found: Measurement[] = [];
  for (const file of globSync('*.ts', { cwd: import.meta.dirname }).sort()) {
    if (file === basename(import.meta.filename)) continue;
    const module: object = await import(`./${file}`);
    if (isMeasurement(module)) found.push(module);
  }
  return found;
}

function machine(): string {
  const all = cpus();
  const load = readFileSync('/proc/loadavg', 'utf8').split(' ')[0];
  return [
    `node ${process.version}`,
    `${all.length} x ${all[0]?.model.trim() ?? 'unknown CPU'}`,
    `${Math.round(totalmem() / 2 ** 30)} GiB`,
    `Linux ${release()}`,
    `load ${load}`,
  ].join(', ');
}

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const selected = (await measurements()).filter(
  ({ NAME }) => words.length === 0 || words.some((word) => NAME.includes(word)),
);
if (selected.length === 0) {
  console.error(`no measurement of bench/ has ${words.join(' or ') || 'a name'} in its name`);
  process.exit(1);
}
console.log(machine());
for (const { NAME, run } of selected) {
  console.log(`\n${NAME}`);
  try {
    await run((line) => console.log(`  ${line}`));
  } catch (error) {
    console.error(`  failed: ${error instanceof Error ? error.stack : String(error)}`);
    process.exitCode = 1;
  }
}
