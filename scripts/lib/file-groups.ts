/** Small test files that run in one process: most of their CPU time is the start of a process and its modules. */
import { readFileSync } from 'node:fs';
import { isLong } from './file-times.ts';

const FILES_PER_GROUP = 12;

const folders = [
  'cmd',
  'compatibility',
  'docs',
  'infra',
  'ksr',
  'kubernetes',
  'kvscheduler',
  'linux',
  'models',
  'netctl',
  'packet-trace',
  'plugins',
  'policies',
  'services',
  'simulator',
  'stn',
  'vpp',
];

/** Hooks of the whole file, state of the process, measured times and memory, properties over many cases. */
const ALONE =
  /^(before|after|beforeEach|afterEach)\(|process\.|\bmock\b|globalThis|performance\.|retained|checkProperty|Suite\(/m;

/** The name of the test that separates the tests of a file in a group from those of the next file. */
export const endOf = (file: string): string => `end of ${file}`;

/** @returns groups, and the other files alone */
export function groupFiles(files: readonly string[]): (readonly string[])[] {
  const units: (readonly string[])[] = [];
  const small = new Map<string, string[]>();
  for (const file of files) {
    const folder = file.split('/')[1] ?? '';
    const isSmall = folders.includes(folder) && !isLong(file);
    if (!isSmall || ALONE.test(readFileSync(file, 'utf8'))) {
      units.push([file]);
      continue;
    }
    const last = small.get(folder);
    if (last && last.length < FILES_PER_GROUP) last.push(file);
    else {
      const group = [file];
      small.set(folder, group);
      units.push(group);
    }
  }
  return units;
}
