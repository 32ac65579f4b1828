/**
 * Runs test files in this process, one after the other: the modules that they share are loaded once. After each
 * file a test with the name `endOf(file)` separates it from the next. A file that leaves the process changed fails.
 */
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { endOf } from './file-groups.ts';

const state = () => ({ ...process.env, cwd: process.cwd() });

for (const file of process.argv.slice(2)) {
  const before = state();
  try {
    await import(resolve(file));
  } catch (error) {
    void test('is loaded', () => {
      throw error;
    });
  }
  // Resolves after all tests of the file.
  await test(endOf(file), () => assert.deepEqual(state(), before));
}
