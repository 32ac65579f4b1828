/** Recorded documents. `CV_RECORD_COMPATIBILITY=1` writes them again: read the diff before you commit it. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const RECORDS = process.env['CV_RECORD_COMPATIBILITY'] === '1';

export function readGolden<T>(file: string): T {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')) as T;
}

export function assertGolden(file: string, actual: unknown): void {
  const path = new URL(file, import.meta.url);
  if (RECORDS) writeFileSync(path, `${JSON.stringify(actual, undefined, 2)}\n`);
  assert.ok(existsSync(path), `${file} is not recorded`);
  assert.deepEqual(JSON.parse(JSON.stringify(actual)), readGolden(file));
}
