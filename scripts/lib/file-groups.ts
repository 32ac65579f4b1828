/** Small test files that run in one process: most of their CPU time is the start of a process and its modules. */
import { readFileSync } from 'node:fs';

const FILES_PER_GROUP = 12;

const folders = [
  'infra',
  'ksr',
  'kubernetes',
  'kvscheduler',
  'linux',
  'models',
  'netctl',
  'packet-trace',
  'plugins',
  'simulator',
  'stn',
  'vpp',
];

/** Hooks of the whole file, state of the process, properties over many cases. */
const ALONE =
  /^(before|after|beforeEach|afterEach)\(|process\.|\bmock\b|globalThis|checkProperty|Suite\(/m;

/** The name of the test that separates the tests of a file in a group from those of the next file. */
export const endOf = (file: string): string => `end of ${file}`;

/** @returns groups, and the other files alone */
export function groupFiles(files: readonly string[]): (readonly string[])[] {
  const units: (readonly string[])[] = [];
  const small = new Map<string, string[]>();
  for (const file of files) {
    const folder = file.split('/')[1] ?? '';
    if (!folders.includes(folder) || ALONE.test(readFileSync(file, 'utf8'))) {
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
