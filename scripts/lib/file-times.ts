/** How long test files took the last time: the longest run first, so that all workers end together. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { FileResult } from './run-tests.ts';

const FOLDER = 'node_modules/.cache';
const TIMES_FILE = `${FOLDER}/test-times.json`;

/** In a fresh clone no time is known: these take more than ten seconds. */
const longFiles: readonly string[] = [
  'test/integration/kernel/transitions.test.ts',
  'test/kvscheduler/properties.test.ts',
  'test/cmd/agent/crash.test.ts',
  'test/cmd/agent/main.test.ts',
  'test/integration/etcd/dbwatcher-faults.test.ts',
  'test/integration/etcd/store-faults.test.ts',
  'test/kvscheduler/windows.test.ts',
];

type Times = Readonly<Record<string, number>>;

function readTimes(): Times {
  return existsSync(TIMES_FILE) ? (JSON.parse(readFileSync(TIMES_FILE, 'utf8')) as Times) : {};
}

/** @returns the files in the order in which they should start */
export function longestFirst(files: readonly string[], times: Times = readTimes()): string[] {
  const timeOf = (name: string) => times[name] ?? (longFiles.includes(name) ? 10_000 : 0);
  return files.toSorted((a, b) => timeOf(b) - timeOf(a));
}

export function recordTimes(results: readonly FileResult[]): void {
  const times = Object.fromEntries(results.map((result) => [result.file, Math.round(result.ms)]));
  if (!existsSync('node_modules')) return;
  mkdirSync(FOLDER, { recursive: true });
  const next = `${TIMES_FILE}.${process.pid}`;
  writeFileSync(next, JSON.stringify({ ...readTimes(), ...times }, null, 1));
  // Another run may read it at the same time.
  renameSync(next, TIMES_FILE);
}
