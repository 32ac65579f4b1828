/** How a program of this repository is started: with the flags of Node.js in its first line. */
import { readFileSync } from 'node:fs';

/** @returns the flags of Node.js in the first line of the program */
export function nodeFlags(file: string): readonly string[] {
  const [first = ''] = readFileSync(file, 'utf8').split('\n', 1);
  return first.split(' ').filter((word) => word.startsWith('--'));
}

/** @returns executable and arguments; the Node.js of this process, whatever is in the PATH */
export function programCommand(file: string): readonly string[] {
  return [process.execPath, ...nodeFlags(file), file];
}
