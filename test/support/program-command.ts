/** How a program of this repository is started: with the flags of Node.js in its first line. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/**
 * The file of a program, which starts with a third of the CPU time from the bundle that `npm test` builds
 * at its beginning. A test file that is run alone starts the source, which cannot be out of date.
 * @param name `agent` for contiv-agent
 */
export function programFile(name: 'agent' | 'ksr' | 'stn'): string {
  const isBuilt = process.env['CV_BUNDLES'] !== undefined;
  return resolve(root, isBuilt ? `dist/cmd/${name}/main.js` : `src/cmd/${name}/main.ts`);
}

/** @returns the flags of Node.js in the first line of the program */
export function nodeFlags(file: string): readonly string[] {
  const [first = ''] = readFileSync(file, 'utf8').split('\n', 1);
  return first.split(' ').filter((word) => word.startsWith('--'));
}

/** @returns executable and arguments; the Node.js of this process, whatever is in the PATH */
export function programCommand(file: string): readonly string[] {
  return [process.execPath, ...nodeFlags(file), file];
}
