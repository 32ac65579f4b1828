/**
 *     npm run soak                 every long run, one after the other
 *     npm run soak -- scheduler    the long runs with the word in their name
 *
 * A long run is a module of soak/ that exports `NAME` and `run(print)`. It prints numbers and throws
 * when a limit is exceeded or a check fails. Memory is measured after a garbage collection, so that
 * Node.js needs --expose-gc.
 */
import { globSync } from 'node:fs';
import { join } from 'node:path';

interface LongRun {
  readonly NAME: string;
  run(print: (line: string) => void): Promise<void>;
}

const folder = join(import.meta.dirname, '../soak');
const words = process.argv.slice(2);
let found = 0;
for (const file of globSync('*.ts', { cwd: folder }).sort()) {
  const { NAME: name, run }: LongRun = await import(join(folder, file));
  if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
  found++;
  console.log(name);
  const start = performance.now();
  try {
    await run((line) => console.log(`  ${line}`));
    console.log(`  passed after ${Math.round((performance.now() - start) / 1000)} s`);
  } catch (error) {
    console.error(`  failed: ${error instanceof Error ? error.stack : String(error)}`);
    process.exitCode = 1;
  }
}
if (found === 0) {
  console.error(`no long run has ${words.join(' or ')} in its name`);
  process.exitCode = 1;
}
